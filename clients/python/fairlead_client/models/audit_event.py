from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.audit_event_detail import AuditEventDetail
    from ..models.maker import Maker


T = TypeVar("T", bound="AuditEvent")


@_attrs_define
class AuditEvent:
    at: datetime.datetime
    kind: str
    object_: str
    """ What it was done to. """
    by: Maker
    """ Who did it. """
    address: str | Unset = UNSET
    """ Where the request came from. """
    request_id: str | Unset = UNSET
    fleet: str | Unset = UNSET
    """ The fleet's name; left out of one that is purged. """
    fleet_id: str | Unset = UNSET
    old_revision: int | Unset = UNSET
    new_revision: int | Unset = UNSET
    detail: AuditEventDetail | Unset = UNSET
    """ Names and counts; never a value of a secret or a token. """
    seq: int | Unset = UNSET
    """ Its number in the chain of the tenant's audit; left out of an event from before there was a chain. """
    hash_: str | Unset = UNSET
    """ A SHA-256, in hexadecimal. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        kind = self.kind

        object_ = self.object_

        by = self.by.to_dict()

        address = self.address

        request_id = self.request_id

        fleet = self.fleet

        fleet_id = self.fleet_id

        old_revision = self.old_revision

        new_revision = self.new_revision

        detail: dict[str, Any] | Unset = UNSET
        if not isinstance(self.detail, Unset):
            detail = self.detail.to_dict()

        seq = self.seq

        hash_ = self.hash_

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "kind": kind,
                "object": object_,
                "by": by,
            }
        )
        if address is not UNSET:
            field_dict["address"] = address
        if request_id is not UNSET:
            field_dict["request_id"] = request_id
        if fleet is not UNSET:
            field_dict["fleet"] = fleet
        if fleet_id is not UNSET:
            field_dict["fleet_id"] = fleet_id
        if old_revision is not UNSET:
            field_dict["old_revision"] = old_revision
        if new_revision is not UNSET:
            field_dict["new_revision"] = new_revision
        if detail is not UNSET:
            field_dict["detail"] = detail
        if seq is not UNSET:
            field_dict["seq"] = seq
        if hash_ is not UNSET:
            field_dict["hash"] = hash_

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.audit_event_detail import AuditEventDetail
        from ..models.maker import Maker

        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        kind = d.pop("kind")

        object_ = d.pop("object")

        by = Maker.from_dict(d.pop("by"))

        address = d.pop("address", UNSET)

        request_id = d.pop("request_id", UNSET)

        fleet = d.pop("fleet", UNSET)

        fleet_id = d.pop("fleet_id", UNSET)

        old_revision = d.pop("old_revision", UNSET)

        new_revision = d.pop("new_revision", UNSET)

        _detail = d.pop("detail", UNSET)
        detail: AuditEventDetail | Unset
        if isinstance(_detail, Unset):
            detail = UNSET
        else:
            detail = AuditEventDetail.from_dict(_detail)

        seq = d.pop("seq", UNSET)

        hash_ = d.pop("hash", UNSET)

        audit_event = cls(
            at=at,
            kind=kind,
            object_=object_,
            by=by,
            address=address,
            request_id=request_id,
            fleet=fleet,
            fleet_id=fleet_id,
            old_revision=old_revision,
            new_revision=new_revision,
            detail=detail,
            seq=seq,
            hash_=hash_,
        )

        audit_event.additional_properties = d
        return audit_event

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
