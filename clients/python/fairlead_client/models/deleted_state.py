from enum import StrEnum


class DeletedState(StrEnum):
    ONLY_DELETED = "deleted"

    def __str__(self) -> str:
        return str(self.value)
