from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="CredentialRenew")


@_attrs_define
class CredentialRenew:
    """
    Example:
        {'old_expires_at': '2026-12-24T12:00:00Z'}

    """

    expires_at: datetime.datetime | Unset = UNSET
    """ Of the new credential. At most 366 days from now; 90 days where it is left out. """
    old_expires_at: datetime.datetime | Unset = UNSET
    """ When the old credential expires, if not sooner; where it is left out, its expiry stays. The token of a gRPC
    client says the old expiry: such
    a client keeps it until then.
     """

    def to_dict(self) -> dict[str, Any]:
        expires_at: str | Unset = UNSET
        if not isinstance(self.expires_at, Unset):
            expires_at = self.expires_at.isoformat()

        old_expires_at: str | Unset = UNSET
        if not isinstance(self.old_expires_at, Unset):
            old_expires_at = self.old_expires_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if old_expires_at is not UNSET:
            field_dict["old_expires_at"] = old_expires_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        _expires_at = d.pop("expires_at", UNSET)
        expires_at: datetime.datetime | Unset
        if isinstance(_expires_at, Unset):
            expires_at = UNSET
        else:
            expires_at = datetime.datetime.fromisoformat(_expires_at)

        _old_expires_at = d.pop("old_expires_at", UNSET)
        old_expires_at: datetime.datetime | Unset
        if isinstance(_old_expires_at, Unset):
            old_expires_at = UNSET
        else:
            old_expires_at = datetime.datetime.fromisoformat(_old_expires_at)

        credential_renew = cls(
            expires_at=expires_at,
            old_expires_at=old_expires_at,
        )

        return credential_renew
