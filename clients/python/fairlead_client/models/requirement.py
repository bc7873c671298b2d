from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Requirement")


@_attrs_define
class Requirement:
    requirement: str
    holds: bool
    has: str | Unset = UNSET
    """ What the node has of the key, 256 bytes of it at most; left out where it has nothing. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        requirement = self.requirement

        holds = self.holds

        has = self.has

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "requirement": requirement,
                "holds": holds,
            }
        )
        if has is not UNSET:
            field_dict["has"] = has

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        requirement = d.pop("requirement")

        holds = d.pop("holds")

        has = d.pop("has", UNSET)

        requirement = cls(
            requirement=requirement,
            holds=holds,
            has=has,
        )

        requirement.additional_properties = d
        return requirement

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
