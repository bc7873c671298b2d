from enum import StrEnum


class WithheldReason(StrEnum):
    MISSING = "missing"
    REFUSED = "refused"

    def __str__(self) -> str:
        return str(self.value)
