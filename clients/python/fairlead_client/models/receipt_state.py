from enum import StrEnum


class ReceiptState(StrEnum):
    DELIVERED = "delivered"
    PENDING = "pending"
    REJECTED = "rejected"
    STORED = "stored"

    def __str__(self) -> str:
        return str(self.value)
