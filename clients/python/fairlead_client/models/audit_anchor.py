from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AuditAnchor")


@_attrs_define
class AuditAnchor:
    """The last link that retention has removed."""

    seq: int
    hash_: str
    """ A SHA-256, in hexadecimal. """
    event_at: datetime.datetime
    """ When its event was. """
    at: datetime.datetime
    """ When it was removed. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        seq = self.seq

        hash_ = self.hash_

        event_at = self.event_at.isoformat()

        at = self.at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "seq": seq,
                "hash": hash_,
                "event_at": event_at,
                "at": at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        seq = d.pop("seq")

        hash_ = d.pop("hash")

        event_at = datetime.datetime.fromisoformat(d.pop("event_at"))

        at = datetime.datetime.fromisoformat(d.pop("at"))

        audit_anchor = cls(
            seq=seq,
            hash_=hash_,
            event_at=event_at,
            at=at,
        )

        audit_anchor.additional_properties = d
        return audit_anchor

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
