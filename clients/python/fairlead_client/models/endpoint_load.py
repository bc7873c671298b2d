from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.endpoint_locality import EndpointLocality


T = TypeVar("T", bound="EndpointLoad")


@_attrs_define
class EndpointLoad:
    address: str
    """ A host with its port, a path, or `envoy://` with an internal listener. """
    issued: int
    successful: int
    errors: int
    in_progress: float
    locality: EndpointLocality | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        address = self.address

        issued = self.issued

        successful = self.successful

        errors = self.errors

        in_progress = self.in_progress

        locality: dict[str, Any] | Unset = UNSET
        if not isinstance(self.locality, Unset):
            locality = self.locality.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "address": address,
                "issued": issued,
                "successful": successful,
                "errors": errors,
                "in_progress": in_progress,
            }
        )
        if locality is not UNSET:
            field_dict["locality"] = locality

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.endpoint_locality import EndpointLocality

        d = dict(src_dict)
        address = d.pop("address")

        issued = d.pop("issued")

        successful = d.pop("successful")

        errors = d.pop("errors")

        in_progress = d.pop("in_progress")

        _locality = d.pop("locality", UNSET)
        locality: EndpointLocality | Unset
        if isinstance(_locality, Unset):
            locality = UNSET
        else:
            locality = EndpointLocality.from_dict(_locality)

        endpoint_load = cls(
            address=address,
            issued=issued,
            successful=successful,
            errors=errors,
            in_progress=in_progress,
            locality=locality,
        )

        endpoint_load.additional_properties = d
        return endpoint_load

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
