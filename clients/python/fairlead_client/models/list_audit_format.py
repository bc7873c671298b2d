from enum import StrEnum


class ListAuditFormat(StrEnum):
    JSON = "json"
    JSONL = "jsonl"

    def __str__(self) -> str:
        return str(self.value)
