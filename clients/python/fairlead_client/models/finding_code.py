from enum import StrEnum


class FindingCode(StrEnum):
    CERTIFICATE_EXPIRED = "certificate_expired"
    CERTIFICATE_EXPIRES = "certificate_expires"
    CREDENTIAL_EXPIRES = "credential_expires"
    DELIVERED_BY_NAME = "delivered_by_name"
    DUPLICATE_DOMAIN = "duplicate_domain"
    ENDPOINTS_HELD = "endpoints_held"
    KEY_MISMATCH = "key_mismatch"
    MISSING_FOR_NODES = "missing_for_nodes"
    MISSING_REFERENCE = "missing_reference"
    NAMES_BOOTSTRAP = "names_bootstrap"
    NEEDS_CONTRIB = "needs_contrib"
    NOT_CALLED = "not_called"
    OLD_BOOTSTRAP = "old_bootstrap"
    REQUESTS_FAIL = "requests_fail"
    SEALED_FOR_ANOTHER_KEY = "sealed_for_another_key"
    SET_TOO_LARGE = "set_too_large"
    STATIC_CLUSTER = "static_cluster"
    TOKEN_EXPIRES = "token_expires"
    UNREACHABLE = "unreachable"
    UNSERVED_TYPE = "unserved_type"
    VALUE_CHANGED = "value_changed"
    VARIANT_SHADOWED = "variant_shadowed"
    VARIANT_TIE = "variant_tie"
    VARIANT_UNMATCHED = "variant_unmatched"

    def __str__(self) -> str:
        return str(self.value)

    @classmethod
    def _missing_(cls, value: object) -> "FindingCode | None":
        """A server that is newer than this client may answer with words that are not in the list."""
        if not isinstance(value, str):
            return None
        word = str.__new__(cls, value)
        word._name_, word._value_ = value, value
        return word
