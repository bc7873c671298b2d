from enum import StrEnum


class NodeState(StrEnum):
    LIVE = "live"
    OFFLINE = "offline"
    REFUSING = "refusing"

    def __str__(self) -> str:
        return str(self.value)
