from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="FleetValues")


@_attrs_define
class FleetValues:
    """Texts by their names, which stand in the place of `${fleet.values.NAME}` in the texts of a body when that is written
    to the fleet, so that several fleets can be written
    from the same files. Those that are given take the place of the present ones of the same names, and an empty text
    takes one away; the others stay. What is written already
    keeps what it was written with until it is written again: the finding `value_changed` names it. A name is letters,
    digits and `_`, not a digit first, at most 64; a fleet
    has at most 100. They are no place for secrets: whoever may read the fleet reads them.

        Example:
            {'BACKEND': 'backend.staging.internal'}

    """

    additional_properties: dict[str, str] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        fleet_values = cls()

        fleet_values.additional_properties = d
        return fleet_values

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> str:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: str) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
