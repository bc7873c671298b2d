from enum import StrEnum


class LimitName(StrEnum):
    AUDIT_BYTES = "audit_bytes"
    AUDIT_DAYS = "audit_days"
    CREDENTIALS = "credentials"
    DELETED_FLEETS = "deleted_fleets"
    EVENT_BYTES = "event_bytes"
    FLEETS = "fleets"
    FLEET_BYTES = "fleet_bytes"
    HISTORY_BYTES = "history_bytes"
    IDEMPOTENCY_BYTES = "idempotency_bytes"
    READS_PER_MINUTE = "reads_per_minute"
    REFUSAL_BYTES = "refusal_bytes"
    RESOURCES = "resources"
    TOKENS = "tokens"
    TOKEN_READS_PER_MINUTE = "token_reads_per_minute"
    TOKEN_WAITING_POLLS = "token_waiting_polls"
    TOKEN_WRITES_PER_MINUTE = "token_writes_per_minute"
    WAITING_POLLS = "waiting_polls"
    WRITES_PER_MINUTE = "writes_per_minute"

    def __str__(self) -> str:
        return str(self.value)

    @classmethod
    def _missing_(cls, value: object) -> "LimitName | None":
        """A server that is newer than this client may answer with words that are not in the list."""
        if not isinstance(value, str):
            return None
        word = str.__new__(cls, value)
        word._name_, word._value_ = value, value
        return word
