from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.endpoint_health import EndpointHealth
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.endpoint_locality import EndpointLocality
    from ..models.endpoint_metadata import EndpointMetadata


T = TypeVar("T", bound="Endpoint")


@_attrs_define
class Endpoint:
    address: str
    weight: int
    health: EndpointHealth
    """ `draining` gets no new requests and keeps its connections, `unhealthy` gets none: Envoy's HealthStatus of
    these names. """
    updated_at: datetime.datetime
    updated_by: str
    """ The name of the token that wrote it last. """
    locality: EndpointLocality | Unset = UNSET
    metadata: EndpointMetadata | Unset = UNSET
    """ Envoy's `filter_metadata`: an object for each filter, such as `envoy.lb`, whose keys subsets are made of. At
    most 4 KiB. """
    lease: str | Unset = UNSET
    """ The id of its lease. """
    expires_at: datetime.datetime | Unset = UNSET
    """ When its lease expires, unless it is renewed. """
    held: bool | Unset = UNSET
    """ Its lease has expired, and it stays as the cluster would have none, or too few, without it. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        address = self.address

        weight = self.weight

        health = self.health.value

        updated_at = self.updated_at.isoformat()

        updated_by = self.updated_by

        locality: dict[str, Any] | Unset = UNSET
        if not isinstance(self.locality, Unset):
            locality = self.locality.to_dict()

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        lease = self.lease

        expires_at: str | Unset = UNSET
        if not isinstance(self.expires_at, Unset):
            expires_at = self.expires_at.isoformat()

        held = self.held

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "address": address,
                "weight": weight,
                "health": health,
                "updated_at": updated_at,
                "updated_by": updated_by,
            }
        )
        if locality is not UNSET:
            field_dict["locality"] = locality
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if lease is not UNSET:
            field_dict["lease"] = lease
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if held is not UNSET:
            field_dict["held"] = held

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.endpoint_locality import EndpointLocality
        from ..models.endpoint_metadata import EndpointMetadata

        d = dict(src_dict)
        address = d.pop("address")

        weight = d.pop("weight")

        health = EndpointHealth(d.pop("health"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        updated_by = d.pop("updated_by")

        _locality = d.pop("locality", UNSET)
        locality: EndpointLocality | Unset
        if isinstance(_locality, Unset):
            locality = UNSET
        else:
            locality = EndpointLocality.from_dict(_locality)

        _metadata = d.pop("metadata", UNSET)
        metadata: EndpointMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = EndpointMetadata.from_dict(_metadata)

        lease = d.pop("lease", UNSET)

        _expires_at = d.pop("expires_at", UNSET)
        expires_at: datetime.datetime | Unset
        if isinstance(_expires_at, Unset):
            expires_at = UNSET
        else:
            expires_at = datetime.datetime.fromisoformat(_expires_at)

        held = d.pop("held", UNSET)

        endpoint = cls(
            address=address,
            weight=weight,
            health=health,
            updated_at=updated_at,
            updated_by=updated_by,
            locality=locality,
            metadata=metadata,
            lease=lease,
            expires_at=expires_at,
            held=held,
        )

        endpoint.additional_properties = d
        return endpoint

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
