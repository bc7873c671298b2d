from enum import StrEnum


class GetReceiptState(StrEnum):
    ACKED = "acked"
    LATE = "late"
    NACKED = "nacked"
    OFFLINE = "offline"
    PENDING = "pending"

    def __str__(self) -> str:
        return str(self.value)
