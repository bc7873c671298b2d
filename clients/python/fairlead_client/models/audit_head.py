from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="AuditHead")


@_attrs_define
class AuditHead:
    """The newest link of a chain at one time. A signed one has all fields."""

    seq: int
    hash_: str
    """ A SHA-256, in hexadecimal. """
    tenant_id: str | Unset = UNSET
    at: datetime.datetime | Unset = UNSET
    """ When it was signed. """
    anchor_seq: int | Unset = UNSET
    """ Up to which number retention had removed events. """
    unchained: int | Unset = UNSET
    signature: str | Unset = UNSET
    """ A SHA-256, in hexadecimal. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        seq = self.seq

        hash_ = self.hash_

        tenant_id = self.tenant_id

        at: str | Unset = UNSET
        if not isinstance(self.at, Unset):
            at = self.at.isoformat()

        anchor_seq = self.anchor_seq

        unchained = self.unchained

        signature = self.signature

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "seq": seq,
                "hash": hash_,
            }
        )
        if tenant_id is not UNSET:
            field_dict["tenant_id"] = tenant_id
        if at is not UNSET:
            field_dict["at"] = at
        if anchor_seq is not UNSET:
            field_dict["anchor_seq"] = anchor_seq
        if unchained is not UNSET:
            field_dict["unchained"] = unchained
        if signature is not UNSET:
            field_dict["signature"] = signature

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        seq = d.pop("seq")

        hash_ = d.pop("hash")

        tenant_id = d.pop("tenant_id", UNSET)

        _at = d.pop("at", UNSET)
        at: datetime.datetime | Unset
        if isinstance(_at, Unset):
            at = UNSET
        else:
            at = datetime.datetime.fromisoformat(_at)

        anchor_seq = d.pop("anchor_seq", UNSET)

        unchained = d.pop("unchained", UNSET)

        signature = d.pop("signature", UNSET)

        audit_head = cls(
            seq=seq,
            hash_=hash_,
            tenant_id=tenant_id,
            at=at,
            anchor_seq=anchor_seq,
            unchained=unchained,
            signature=signature,
        )

        audit_head.additional_properties = d
        return audit_head

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
