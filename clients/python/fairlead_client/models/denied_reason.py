from enum import StrEnum


class DeniedReason(StrEnum):
    NODE_ID_FORBIDDEN = "node_id_forbidden"
    NODE_ID_TAKEN = "node_id_taken"
    TOKEN_EXPIRED = "token_expired"
    TOKEN_REVOKED = "token_revoked"
    TOKEN_WRONG = "token_wrong"

    def __str__(self) -> str:
        return str(self.value)
