from enum import StrEnum


class MakerKind(StrEnum):
    OPERATOR = "operator"
    SERVER = "server"
    TOKEN = "token"

    def __str__(self) -> str:
        return str(self.value)
