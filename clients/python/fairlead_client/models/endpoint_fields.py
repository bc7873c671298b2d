from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.endpoint_health import EndpointHealth
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.endpoint_metadata import EndpointMetadata


T = TypeVar("T", bound="EndpointFields")


@_attrs_define
class EndpointFields:
    """
    Example:
        {'weight': 2, 'health': 'healthy'}

    """

    weight: int | Unset = 1
    health: EndpointHealth | Unset = UNSET
    """ `draining` gets no new requests and keeps its connections, `unhealthy` gets none: Envoy's HealthStatus of
    these names. """
    metadata: EndpointMetadata | Unset = UNSET
    """ Envoy's `filter_metadata`: an object for each filter, such as `envoy.lb`, whose keys subsets are made of. At
    most 4 KiB. """
    lease: str | Unset = UNSET
    """ The id of a lease, with which it goes. Left out: it stays until it is removed. """

    def to_dict(self) -> dict[str, Any]:
        weight = self.weight

        health: str | Unset = UNSET
        if not isinstance(self.health, Unset):
            health = self.health.value

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        lease = self.lease

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if weight is not UNSET:
            field_dict["weight"] = weight
        if health is not UNSET:
            field_dict["health"] = health
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if lease is not UNSET:
            field_dict["lease"] = lease

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.endpoint_metadata import EndpointMetadata

        d = dict(src_dict)
        weight = d.pop("weight", UNSET)

        _health = d.pop("health", UNSET)
        health: EndpointHealth | Unset
        if isinstance(_health, Unset):
            health = UNSET
        else:
            health = EndpointHealth(_health)

        _metadata = d.pop("metadata", UNSET)
        metadata: EndpointMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = EndpointMetadata.from_dict(_metadata)

        lease = d.pop("lease", UNSET)

        endpoint_fields = cls(
            weight=weight,
            health=health,
            metadata=metadata,
            lease=lease,
        )

        return endpoint_fields
