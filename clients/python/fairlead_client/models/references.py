from enum import StrEnum


class References(StrEnum):
    STRICT = "strict"
    WARN = "warn"

    def __str__(self) -> str:
        return str(self.value)
