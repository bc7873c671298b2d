from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="OperatorToken")


@_attrs_define
class OperatorToken:
    id: str
    name: str
    created_at: datetime.datetime
    expires_at: datetime.datetime
    made_by: str | Unset = UNSET
    """ The name of the operator token that made it; left out where the command line did. """
    revoked_at: datetime.datetime | Unset = UNSET
    revoked_by: str | Unset = UNSET
    """ The name of the operator token that revoked it. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        created_at = self.created_at.isoformat()

        expires_at = self.expires_at.isoformat()

        made_by = self.made_by

        revoked_at: str | Unset = UNSET
        if not isinstance(self.revoked_at, Unset):
            revoked_at = self.revoked_at.isoformat()

        revoked_by = self.revoked_by

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "created_at": created_at,
                "expires_at": expires_at,
            }
        )
        if made_by is not UNSET:
            field_dict["made_by"] = made_by
        if revoked_at is not UNSET:
            field_dict["revoked_at"] = revoked_at
        if revoked_by is not UNSET:
            field_dict["revoked_by"] = revoked_by

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        made_by = d.pop("made_by", UNSET)

        _revoked_at = d.pop("revoked_at", UNSET)
        revoked_at: datetime.datetime | Unset
        if isinstance(_revoked_at, Unset):
            revoked_at = UNSET
        else:
            revoked_at = datetime.datetime.fromisoformat(_revoked_at)

        revoked_by = d.pop("revoked_by", UNSET)

        operator_token = cls(
            id=id,
            name=name,
            created_at=created_at,
            expires_at=expires_at,
            made_by=made_by,
            revoked_at=revoked_at,
            revoked_by=revoked_by,
        )

        operator_token.additional_properties = d
        return operator_token

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
