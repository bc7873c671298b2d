from enum import StrEnum


class ConfirmCode(StrEnum):
    LIVE_NODES = "live_nodes"
    MOST_OF_TYPE = "most_of_type"
    REFUSED_VERSION = "refused_version"
    REMOVES_MANY = "removes_many"

    def __str__(self) -> str:
        return str(self.value)
