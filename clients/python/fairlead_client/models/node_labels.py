from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.node_labels_metadata import NodeLabelsMetadata


T = TypeVar("T", bound="NodeLabels")


@_attrs_define
class NodeLabels:
    """What selectors ask of a node, as it said when it connected last."""

    cluster: str | Unset = UNSET
    client_name: str | Unset = UNSET
    client_version: str | Unset = UNSET
    region: str | Unset = UNSET
    zone: str | Unset = UNSET
    sub_zone: str | Unset = UNSET
    metadata: NodeLabelsMetadata | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cluster = self.cluster

        client_name = self.client_name

        client_version = self.client_version

        region = self.region

        zone = self.zone

        sub_zone = self.sub_zone

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if cluster is not UNSET:
            field_dict["cluster"] = cluster
        if client_name is not UNSET:
            field_dict["client_name"] = client_name
        if client_version is not UNSET:
            field_dict["client_version"] = client_version
        if region is not UNSET:
            field_dict["region"] = region
        if zone is not UNSET:
            field_dict["zone"] = zone
        if sub_zone is not UNSET:
            field_dict["sub_zone"] = sub_zone
        if metadata is not UNSET:
            field_dict["metadata"] = metadata

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.node_labels_metadata import NodeLabelsMetadata

        d = dict(src_dict)
        cluster = d.pop("cluster", UNSET)

        client_name = d.pop("client_name", UNSET)

        client_version = d.pop("client_version", UNSET)

        region = d.pop("region", UNSET)

        zone = d.pop("zone", UNSET)

        sub_zone = d.pop("sub_zone", UNSET)

        _metadata = d.pop("metadata", UNSET)
        metadata: NodeLabelsMetadata | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = NodeLabelsMetadata.from_dict(_metadata)

        node_labels = cls(
            cluster=cluster,
            client_name=client_name,
            client_version=client_version,
            region=region,
            zone=zone,
            sub_zone=sub_zone,
            metadata=metadata,
        )

        node_labels.additional_properties = d
        return node_labels

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
