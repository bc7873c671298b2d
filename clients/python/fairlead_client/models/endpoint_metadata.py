from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.endpoint_metadata_additional_property import (
        EndpointMetadataAdditionalProperty,
    )


T = TypeVar("T", bound="EndpointMetadata")


@_attrs_define
class EndpointMetadata:
    """Envoy's `filter_metadata`: an object for each filter, such as `envoy.lb`, whose keys subsets are made of. At most 4
    KiB.

        Example:
            {'envoy.lb': {'version': 'v2'}}

    """

    additional_properties: dict[str, EndpointMetadataAdditionalProperty] = _attrs_field(
        init=False, factory=dict
    )

    def to_dict(self) -> dict[str, Any]:

        field_dict: dict[str, Any] = {}
        for prop_name, prop in self.additional_properties.items():
            field_dict[prop_name] = prop.to_dict()

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.endpoint_metadata_additional_property import (
            EndpointMetadataAdditionalProperty,
        )

        d = dict(src_dict)
        endpoint_metadata = cls()

        additional_properties = {}
        for prop_name, prop_dict in d.items():
            additional_property = EndpointMetadataAdditionalProperty.from_dict(
                prop_dict
            )

            additional_properties[prop_name] = additional_property

        endpoint_metadata.additional_properties = additional_properties
        return endpoint_metadata

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> EndpointMetadataAdditionalProperty:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: EndpointMetadataAdditionalProperty) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
