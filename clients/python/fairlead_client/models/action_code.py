from enum import StrEnum


class ActionCode(StrEnum):
    DELETED = "deleted"
    FROZEN = "frozen"
    KEPT = "kept"
    LOST = "lost"
    NO_SUSPECT = "no_suspect"
    REMOVED = "removed"
    STAND_IN_REFUSED = "stand_in_refused"
    SUPERSEDED = "superseded"
    UNKNOWN = "unknown"

    def __str__(self) -> str:
        return str(self.value)

    @classmethod
    def _missing_(cls, value: object) -> "ActionCode | None":
        """A server that is newer than this client may answer with words that are not in the list."""
        if not isinstance(value, str):
            return None
        word = str.__new__(cls, value)
        word._name_, word._value_ = value, value
        return word
