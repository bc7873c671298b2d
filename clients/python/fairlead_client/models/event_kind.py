from enum import StrEnum


class EventKind(StrEnum):
    DENIED = "denied"
    DROPPED = "dropped"
    DUPLICATES = "duplicates"
    KEPT_BACK = "kept_back"
    OFFERED = "offered"
    RECOVERED = "recovered"
    REFUSED = "refused"
    WITHHELD = "withheld"

    def __str__(self) -> str:
        return str(self.value)

    @classmethod
    def _missing_(cls, value: object) -> "EventKind | None":
        """A server that is newer than this client may answer with words that are not in the list."""
        if not isinstance(value, str):
            return None
        word = str.__new__(cls, value)
        word._name_, word._value_ = value, value
        return word
