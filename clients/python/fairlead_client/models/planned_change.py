from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.planned_change_op import PlannedChangeOp
from ..types import UNSET, Unset

T = TypeVar("T", bound="PlannedChange")


@_attrs_define
class PlannedChange:
    pointer: str
    """ JSON Pointer (RFC 6901) into the document; "" is all of it. Of an element of a list, its place after the
    changes before this one. """
    op: PlannedChangeOp
    before: Any | Unset = UNSET
    """ Any JSON value. """
    after: Any | Unset = UNSET
    """ Any JSON value. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        pointer = self.pointer

        op = self.op.value

        before = self.before

        after = self.after

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "pointer": pointer,
                "op": op,
            }
        )
        if before is not UNSET:
            field_dict["before"] = before
        if after is not UNSET:
            field_dict["after"] = after

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        pointer = d.pop("pointer")

        op = PlannedChangeOp(d.pop("op"))

        before = d.pop("before", UNSET)

        after = d.pop("after", UNSET)

        planned_change = cls(
            pointer=pointer,
            op=op,
            before=before,
            after=after,
        )

        planned_change.additional_properties = d
        return planned_change

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
