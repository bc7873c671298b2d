from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="AuditRecord")


@_attrs_define
class AuditRecord:
    """All that the hash of an event is of, as it is stored. Left out where it is gone."""

    id: str
    at: datetime.datetime
    """ To the microsecond. """
    actor: str
    address: str
    request_id: str
    kind: str
    object_: str
    credential: str | Unset = UNSET
    fleet_id: str | Unset = UNSET
    old_revision: int | Unset = UNSET
    new_revision: int | Unset = UNSET
    detail: str | Unset = UNSET
    """ JSON in the database's own spelling. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        at = self.at.isoformat()

        actor = self.actor

        address = self.address

        request_id = self.request_id

        kind = self.kind

        object_ = self.object_

        credential = self.credential

        fleet_id = self.fleet_id

        old_revision = self.old_revision

        new_revision = self.new_revision

        detail = self.detail

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "at": at,
                "actor": actor,
                "address": address,
                "request_id": request_id,
                "kind": kind,
                "object": object_,
            }
        )
        if credential is not UNSET:
            field_dict["credential"] = credential
        if fleet_id is not UNSET:
            field_dict["fleet_id"] = fleet_id
        if old_revision is not UNSET:
            field_dict["old_revision"] = old_revision
        if new_revision is not UNSET:
            field_dict["new_revision"] = new_revision
        if detail is not UNSET:
            field_dict["detail"] = detail

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        at = datetime.datetime.fromisoformat(d.pop("at"))

        actor = d.pop("actor")

        address = d.pop("address")

        request_id = d.pop("request_id")

        kind = d.pop("kind")

        object_ = d.pop("object")

        credential = d.pop("credential", UNSET)

        fleet_id = d.pop("fleet_id", UNSET)

        old_revision = d.pop("old_revision", UNSET)

        new_revision = d.pop("new_revision", UNSET)

        detail = d.pop("detail", UNSET)

        audit_record = cls(
            id=id,
            at=at,
            actor=actor,
            address=address,
            request_id=request_id,
            kind=kind,
            object_=object_,
            credential=credential,
            fleet_id=fleet_id,
            old_revision=old_revision,
            new_revision=new_revision,
            detail=detail,
        )

        audit_record.additional_properties = d
        return audit_record

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
