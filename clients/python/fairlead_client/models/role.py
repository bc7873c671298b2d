from enum import StrEnum


class Role(StrEnum):
    ADMIN = "admin"
    CI = "ci"
    EDITOR = "editor"
    OWNER = "owner"
    VIEWER = "viewer"

    def __str__(self) -> str:
        return str(self.value)
