from enum import StrEnum


class Missing(StrEnum):
    CREDENTIAL = "credential"
    FLEET = "fleet"
    LEASE = "lease"
    NODE = "node"
    PATH = "path"
    RESOURCE = "resource"
    REVISION = "revision"
    SCHEMA = "schema"
    SESSION = "session"
    TENANT = "tenant"
    TOKEN = "token"

    def __str__(self) -> str:
        return str(self.value)

    @classmethod
    def _missing_(cls, value: object) -> "Missing | None":
        """A server that is newer than this client may answer with words that are not in the list."""
        if not isinstance(value, str):
            return None
        word = str.__new__(cls, value)
        word._name_, word._value_ = value, value
        return word
