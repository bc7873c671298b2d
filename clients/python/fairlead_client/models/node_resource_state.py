from enum import StrEnum


class NodeResourceState(StrEnum):
    ABSENT = "absent"
    NOT_SUBSCRIBED = "not_subscribed"
    PENDING = "pending"
    REFUSED = "refused"
    SYNCED = "synced"
    UNMATCHED = "unmatched"
    UNREFERENCED = "unreferenced"

    def __str__(self) -> str:
        return str(self.value)
