from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="FleetNumbers")


@_attrs_define
class FleetNumbers:
    fleet: str
    """ The fleet's name. """
    resources: int
    fleet_bytes: int
    history_bytes: int
    credentials: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        fleet = self.fleet

        resources = self.resources

        fleet_bytes = self.fleet_bytes

        history_bytes = self.history_bytes

        credentials = self.credentials

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "fleet": fleet,
                "resources": resources,
                "fleet_bytes": fleet_bytes,
                "history_bytes": history_bytes,
                "credentials": credentials,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        fleet = d.pop("fleet")

        resources = d.pop("resources")

        fleet_bytes = d.pop("fleet_bytes")

        history_bytes = d.pop("history_bytes")

        credentials = d.pop("credentials")

        fleet_numbers = cls(
            fleet=fleet,
            resources=resources,
            fleet_bytes=fleet_bytes,
            history_bytes=history_bytes,
            credentials=credentials,
        )

        fleet_numbers.additional_properties = d
        return fleet_numbers

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
