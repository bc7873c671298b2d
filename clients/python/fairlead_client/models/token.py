from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.role import Role
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.maker import Maker


T = TypeVar("T", bound="Token")


@_attrs_define
class Token:
    id: str
    name: str
    role: Role
    """ What a token may do. `ci` writes to one fleet. """
    made_by: Maker
    """ Who did it. """
    created_at: datetime.datetime
    fleet: str | Unset = UNSET
    """ The one fleet that it is bound to. """
    writes_secrets: bool | Unset = UNSET
    """ Of the role `ci`: whether it may write secrets. """
    uses_secrets: list[str] | Unset = UNSET
    """ Of the roles `ci` and `editor`: the secrets that configuration which the token writes may use in whatever
    way, beside those that the role lets it use (TLS of listeners and
    clusters, where the secret's label `team` is that of the resource). Each is a name, the beginning of names and
    `*`, or a label of the secret as `key=value`.
     """
    ends_with: str | Unset = UNSET
    """ The id of the token that made it, with which it ends; left out where it stands alone. """
    expires_at: datetime.datetime | Unset = UNSET
    revoked_at: datetime.datetime | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        role = self.role.value

        made_by = self.made_by.to_dict()

        created_at = self.created_at.isoformat()

        fleet = self.fleet

        writes_secrets = self.writes_secrets

        uses_secrets: list[str] | Unset = UNSET
        if not isinstance(self.uses_secrets, Unset):
            uses_secrets = self.uses_secrets

        ends_with = self.ends_with

        expires_at: str | Unset = UNSET
        if not isinstance(self.expires_at, Unset):
            expires_at = self.expires_at.isoformat()

        revoked_at: str | Unset = UNSET
        if not isinstance(self.revoked_at, Unset):
            revoked_at = self.revoked_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "role": role,
                "made_by": made_by,
                "created_at": created_at,
            }
        )
        if fleet is not UNSET:
            field_dict["fleet"] = fleet
        if writes_secrets is not UNSET:
            field_dict["writes_secrets"] = writes_secrets
        if uses_secrets is not UNSET:
            field_dict["uses_secrets"] = uses_secrets
        if ends_with is not UNSET:
            field_dict["ends_with"] = ends_with
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if revoked_at is not UNSET:
            field_dict["revoked_at"] = revoked_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.maker import Maker

        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        role = Role(d.pop("role"))

        made_by = Maker.from_dict(d.pop("made_by"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        fleet = d.pop("fleet", UNSET)

        writes_secrets = d.pop("writes_secrets", UNSET)

        uses_secrets = cast(list[str], d.pop("uses_secrets", UNSET))

        ends_with = d.pop("ends_with", UNSET)

        _expires_at = d.pop("expires_at", UNSET)
        expires_at: datetime.datetime | Unset
        if isinstance(_expires_at, Unset):
            expires_at = UNSET
        else:
            expires_at = datetime.datetime.fromisoformat(_expires_at)

        _revoked_at = d.pop("revoked_at", UNSET)
        revoked_at: datetime.datetime | Unset
        if isinstance(_revoked_at, Unset):
            revoked_at = UNSET
        else:
            revoked_at = datetime.datetime.fromisoformat(_revoked_at)

        token = cls(
            id=id,
            name=name,
            role=role,
            made_by=made_by,
            created_at=created_at,
            fleet=fleet,
            writes_secrets=writes_secrets,
            uses_secrets=uses_secrets,
            ends_with=ends_with,
            expires_at=expires_at,
            revoked_at=revoked_at,
        )

        token.additional_properties = d
        return token

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
