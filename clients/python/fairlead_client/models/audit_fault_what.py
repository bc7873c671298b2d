from enum import StrEnum


class AuditFaultWhat(StrEnum):
    EVENT_CHANGED = "event_changed"
    EVENT_INSERTED = "event_inserted"
    EVENT_MISSING = "event_missing"
    HEAD_MOVED_BACK = "head_moved_back"
    LINK_MISSING = "link_missing"
    REMOVED_EARLY = "removed_early"
    REWRITTEN = "rewritten"
    SIGNATURE = "signature"
    TRUNCATED = "truncated"

    def __str__(self) -> str:
        return str(self.value)

    @classmethod
    def _missing_(cls, value: object) -> "AuditFaultWhat | None":
        """A server that is newer than this client may answer with words that are not in the list."""
        if not isinstance(value, str):
            return None
        word = str.__new__(cls, value)
        word._name_, word._value_ = value, value
        return word
