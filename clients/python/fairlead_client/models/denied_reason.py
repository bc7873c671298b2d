from enum import StrEnum


class DeniedReason(StrEnum):
    NAMES_OVER_LIMIT = "names_over_limit"
    NODE_ID_FORBIDDEN = "node_id_forbidden"
    NODE_ID_TAKEN = "node_id_taken"
    REQUEST_REFUSED = "request_refused"
    ROUTED = "routed"
    TOKEN_EXPIRED = "token_expired"
    TOKEN_REVOKED = "token_revoked"
    TOKEN_WRONG = "token_wrong"
    TYPE_NOT_SERVED = "type_not_served"
    WITHHELD_MISSING = "withheld_missing"
    WITHHELD_REFUSED = "withheld_refused"
    WITHHELD_SEALED = "withheld_sealed"
    WITHHELD_TOO_LARGE = "withheld_too_large"

    def __str__(self) -> str:
        return str(self.value)

    @classmethod
    def _missing_(cls, value: object) -> "DeniedReason | None":
        """A server that is newer than this client may answer with words that are not in the list."""
        if not isinstance(value, str):
            return None
        word = str.__new__(cls, value)
        word._name_, word._value_ = value, value
        return word
