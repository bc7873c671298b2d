from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="OperatorTokenCreate")


@_attrs_define
class OperatorTokenCreate:
    """
    Example:
        {'name': 'ada'}

    """

    name: str
    """ For people, at most 256 bytes. Tenants see it beside what the token does to them. """
    expires_at: datetime.datetime | Unset = UNSET
    """ At most 366 days from now; 90 days where it is left out. """

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        expires_at: str | Unset = UNSET
        if not isinstance(self.expires_at, Unset):
            expires_at = self.expires_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
            }
        )
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        _expires_at = d.pop("expires_at", UNSET)
        expires_at: datetime.datetime | Unset
        if isinstance(_expires_at, Unset):
            expires_at = UNSET
        else:
            expires_at = datetime.datetime.fromisoformat(_expires_at)

        operator_token_create = cls(
            name=name,
            expires_at=expires_at,
        )

        return operator_token_create
