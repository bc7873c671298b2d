from enum import StrEnum


class LimitScope(StrEnum):
    FLEET = "fleet"
    TENANT = "tenant"
    TOKEN = "token"

    def __str__(self) -> str:
        return str(self.value)
