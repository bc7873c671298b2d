from enum import StrEnum


class WhoamiKind(StrEnum):
    OPERATOR = "operator"
    TENANT = "tenant"

    def __str__(self) -> str:
        return str(self.value)
