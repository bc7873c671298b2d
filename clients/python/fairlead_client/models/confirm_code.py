from enum import StrEnum


class ConfirmCode(StrEnum):
    LIVE_NODES = "live_nodes"
    MOST_OF_TYPE = "most_of_type"
    REFUSED_VERSION = "refused_version"
    REMOVES_MANY = "removes_many"

    def __str__(self) -> str:
        return str(self.value)

    @classmethod
    def _missing_(cls, value: object) -> "ConfirmCode | None":
        """A server that is newer than this client may answer with words that are not in the list."""
        if not isinstance(value, str):
            return None
        word = str.__new__(cls, value)
        word._name_, word._value_ = value, value
        return word
