from enum import StrEnum


class EventKind(StrEnum):
    DENIED = "denied"
    DROPPED = "dropped"
    DUPLICATES = "duplicates"
    KEPT_BACK = "kept_back"
    RECOVERED = "recovered"
    REFUSED = "refused"

    def __str__(self) -> str:
        return str(self.value)
