from enum import StrEnum


class NodeResourceState(StrEnum):
    ABSENT = "absent"
    NOT_SUBSCRIBED = "not_subscribed"
    ON_DEMAND = "on_demand"
    PENDING = "pending"
    REFUSED = "refused"
    SYNCED = "synced"
    UNMATCHED = "unmatched"
    UNREFERENCED = "unreferenced"

    def __str__(self) -> str:
        return str(self.value)

    @classmethod
    def _missing_(cls, value: object) -> "NodeResourceState | None":
        """A server that is newer than this client may answer with words that are not in the list."""
        if not isinstance(value, str):
            return None
        word = str.__new__(cls, value)
        word._name_, word._value_ = value, value
        return word
