from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.topology_edge import TopologyEdge
    from ..models.topology_resource import TopologyResource


T = TypeVar("T", bound="Topology")


@_attrs_define
class Topology:
    revision: int
    """ Of the content that was looked at. """
    resources: list[TopologyResource]
    edges: list[TopologyEdge]
    """ Between these resources. """
    more_resources: int
    """ How many were left off. """
    more_edges: int
    """ How many edges were left off: with them, and from listeners to scoped routes beyond 10,000. """

    def to_dict(self) -> dict[str, Any]:
        revision = self.revision

        resources = []
        for resources_item_data in self.resources:
            resources_item = resources_item_data.to_dict()
            resources.append(resources_item)

        edges = []
        for edges_item_data in self.edges:
            edges_item = edges_item_data.to_dict()
            edges.append(edges_item)

        more_resources = self.more_resources

        more_edges = self.more_edges

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "revision": revision,
                "resources": resources,
                "edges": edges,
                "more_resources": more_resources,
                "more_edges": more_edges,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.topology_edge import TopologyEdge
        from ..models.topology_resource import TopologyResource

        d = dict(src_dict)
        revision = d.pop("revision")

        resources = []
        _resources = d.pop("resources")
        for resources_item_data in _resources:
            resources_item = TopologyResource.from_dict(resources_item_data)

            resources.append(resources_item)

        edges = []
        _edges = d.pop("edges")
        for edges_item_data in _edges:
            edges_item = TopologyEdge.from_dict(edges_item_data)

            edges.append(edges_item)

        more_resources = d.pop("more_resources")

        more_edges = d.pop("more_edges")

        topology = cls(
            revision=revision,
            resources=resources,
            edges=edges,
            more_resources=more_resources,
            more_edges=more_edges,
        )

        return topology
