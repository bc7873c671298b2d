from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.maker import Maker


T = TypeVar("T", bound="Credential")


@_attrs_define
class Credential:
    """A node credential. One that an older server made has no `made_by`, which was not noted then."""

    id: str
    nodes: str
    """ The node ids that may use it: one id, a prefix with `*`, or `*`. """
    description: str
    created_at: datetime.datetime
    made_by: Maker | Unset = UNSET
    """ Who did it. """
    expires_at: datetime.datetime | Unset = UNSET
    """ Left out of a credential that an older server made without an expiry. """
    revoked_at: datetime.datetime | Unset = UNSET
    last_used_at: datetime.datetime | Unset = UNSET
    """ When a client last came in with it, or was connected with it; to the hour. Left out where none has. """
    last_used_from: str | Unset = UNSET
    """ The address of that client's connection, as the server sees it: of a proxy where one is in between. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        nodes = self.nodes

        description = self.description

        created_at = self.created_at.isoformat()

        made_by: dict[str, Any] | Unset = UNSET
        if not isinstance(self.made_by, Unset):
            made_by = self.made_by.to_dict()

        expires_at: str | Unset = UNSET
        if not isinstance(self.expires_at, Unset):
            expires_at = self.expires_at.isoformat()

        revoked_at: str | Unset = UNSET
        if not isinstance(self.revoked_at, Unset):
            revoked_at = self.revoked_at.isoformat()

        last_used_at: str | Unset = UNSET
        if not isinstance(self.last_used_at, Unset):
            last_used_at = self.last_used_at.isoformat()

        last_used_from = self.last_used_from

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "nodes": nodes,
                "description": description,
                "created_at": created_at,
            }
        )
        if made_by is not UNSET:
            field_dict["made_by"] = made_by
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if revoked_at is not UNSET:
            field_dict["revoked_at"] = revoked_at
        if last_used_at is not UNSET:
            field_dict["last_used_at"] = last_used_at
        if last_used_from is not UNSET:
            field_dict["last_used_from"] = last_used_from

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.maker import Maker

        d = dict(src_dict)
        id = d.pop("id")

        nodes = d.pop("nodes")

        description = d.pop("description")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        _made_by = d.pop("made_by", UNSET)
        made_by: Maker | Unset
        if isinstance(_made_by, Unset):
            made_by = UNSET
        else:
            made_by = Maker.from_dict(_made_by)

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

        _last_used_at = d.pop("last_used_at", UNSET)
        last_used_at: datetime.datetime | Unset
        if isinstance(_last_used_at, Unset):
            last_used_at = UNSET
        else:
            last_used_at = datetime.datetime.fromisoformat(_last_used_at)

        last_used_from = d.pop("last_used_from", UNSET)

        credential = cls(
            id=id,
            nodes=nodes,
            description=description,
            created_at=created_at,
            made_by=made_by,
            expires_at=expires_at,
            revoked_at=revoked_at,
            last_used_at=last_used_at,
            last_used_from=last_used_from,
        )

        credential.additional_properties = d
        return credential

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
