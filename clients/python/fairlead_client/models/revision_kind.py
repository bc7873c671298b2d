from enum import StrEnum


class RevisionKind(StrEnum):
    KIND_APPLY = "apply"
    KIND_DELETE = "delete"
    KIND_PUT = "put"
    KIND_ROLLBACK = "rollback"

    def __str__(self) -> str:
        return str(self.value)
