from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.audit_record import AuditRecord


T = TypeVar("T", bound="AuditLink")


@_attrs_define
class AuditLink:
    seq: int
    hash_: str
    """ A SHA-256, in hexadecimal. """
    event: AuditRecord | Unset = UNSET
    """ All that the hash of an event is of, as it is stored. Left out where it is gone. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        seq = self.seq

        hash_ = self.hash_

        event: dict[str, Any] | Unset = UNSET
        if not isinstance(self.event, Unset):
            event = self.event.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "seq": seq,
                "hash": hash_,
            }
        )
        if event is not UNSET:
            field_dict["event"] = event

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.audit_record import AuditRecord

        d = dict(src_dict)
        seq = d.pop("seq")

        hash_ = d.pop("hash")

        _event = d.pop("event", UNSET)
        event: AuditRecord | Unset
        if isinstance(_event, Unset):
            event = UNSET
        else:
            event = AuditRecord.from_dict(_event)

        audit_link = cls(
            seq=seq,
            hash_=hash_,
            event=event,
        )

        audit_link.additional_properties = d
        return audit_link

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
