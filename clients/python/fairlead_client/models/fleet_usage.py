from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.limit import Limit


T = TypeVar("T", bound="FleetUsage")


@_attrs_define
class FleetUsage:
    fleet: str
    """ The fleet's name. """
    items: list[Limit]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        fleet = self.fleet

        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "fleet": fleet,
                "items": items,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.limit import Limit

        d = dict(src_dict)
        fleet = d.pop("fleet")

        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = Limit.from_dict(items_item_data)

            items.append(items_item)

        fleet_usage = cls(
            fleet=fleet,
            items=items,
        )

        fleet_usage.additional_properties = d
        return fleet_usage

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
