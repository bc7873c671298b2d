from enum import StrEnum


class NodeResourceState(StrEnum):
    ABSENT = "absent"
    PENDING = "pending"
    REFUSED = "refused"
    SYNCED = "synced"
    UNMATCHED = "unmatched"
    UNREFERENCED = "unreferenced"

    def __str__(self) -> str:
        return str(self.value)
