from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.audit_fault_what import AuditFaultWhat

T = TypeVar("T", bound="AuditFault")


@_attrs_define
class AuditFault:
    """The first thing that is wrong with the chain."""

    what: AuditFaultWhat
    seq: int
    """ The number that it is about; 0 where it is about none. """
    detail: str
    """ What is wrong, in a sentence. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        what = self.what.value

        seq = self.seq

        detail = self.detail

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "what": what,
                "seq": seq,
                "detail": detail,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        what = AuditFaultWhat(d.pop("what"))

        seq = d.pop("seq")

        detail = d.pop("detail")

        audit_fault = cls(
            what=what,
            seq=seq,
            detail=detail,
        )

        audit_fault.additional_properties = d
        return audit_fault

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
