from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.audit_delivery_collector import AuditDeliveryCollector
from ..types import UNSET, Unset

T = TypeVar("T", bound="AuditDelivery")


@_attrs_define
class AuditDelivery:
    collector: AuditDeliveryCollector
    seq: int
    """ The last number that it has. """
    at: datetime.datetime | Unset = UNSET
    """ When it was last given something. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        collector = self.collector.value

        seq = self.seq

        at: str | Unset = UNSET
        if not isinstance(self.at, Unset):
            at = self.at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "collector": collector,
                "seq": seq,
            }
        )
        if at is not UNSET:
            field_dict["at"] = at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        collector = AuditDeliveryCollector(d.pop("collector"))

        seq = d.pop("seq")

        _at = d.pop("at", UNSET)
        at: datetime.datetime | Unset
        if isinstance(_at, Unset):
            at = UNSET
        else:
            at = datetime.datetime.fromisoformat(_at)

        audit_delivery = cls(
            collector=collector,
            seq=seq,
            at=at,
        )

        audit_delivery.additional_properties = d
        return audit_delivery

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
