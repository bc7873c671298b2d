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
