from enum import StrEnum


class Missing(StrEnum):
    CREDENTIAL = "credential"
    FLEET = "fleet"
    NODE = "node"
    PATH = "path"
    RESOURCE = "resource"
    REVISION = "revision"
    TENANT = "tenant"
    TOKEN = "token"

    def __str__(self) -> str:
        return str(self.value)
