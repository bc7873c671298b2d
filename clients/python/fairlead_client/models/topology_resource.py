from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.resource_type import ResourceType
from ..models.topology_state import TopologyState
from ..types import UNSET, Unset

T = TypeVar("T", bound="TopologyResource")


@_attrs_define
class TopologyResource:
    type_: ResourceType
    """ The resource's type, by the name of its list. """
    name: str
    state: TopologyState
    """ `missing`: it is named and not there. `bootstrap`: a cluster that the proxies have in their own bootstrap,
    by the fleet's `static_clusters`. """
    variants: int
    """ How many variants it has, the default one among them; 0 of what is not stored. """
    any_cluster: bool | Unset = UNSET
    """ Which clusters it uses is decided by requests, connections or code. Left out where it is not. """

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_.value

        name = self.name

        state = self.state.value

        variants = self.variants

        any_cluster = self.any_cluster

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "type": type_,
                "name": name,
                "state": state,
                "variants": variants,
            }
        )
        if any_cluster is not UNSET:
            field_dict["any_cluster"] = any_cluster

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        type_ = ResourceType(d.pop("type"))

        name = d.pop("name")

        state = TopologyState(d.pop("state"))

        variants = d.pop("variants")

        any_cluster = d.pop("any_cluster", UNSET)

        topology_resource = cls(
            type_=type_,
            name=name,
            state=state,
            variants=variants,
            any_cluster=any_cluster,
        )

        return topology_resource
