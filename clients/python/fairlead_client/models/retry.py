from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.node_state import NodeState

if TYPE_CHECKING:
    from ..models.resource_ref import ResourceRef


T = TypeVar("T", bound="Retry")


@_attrs_define
class Retry:
    node: str
    """ The node's id. """
    state: NodeState
    """ `refusing`: live, and at least one resource stands refused. """
    retried: int
    """ How many resources are offered again; those of refusals for which none was found responsible are not
    counted. """
    resources: list[ResourceRef]
    """ The first hundred of them, by type and name. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        node = self.node

        state = self.state.value

        retried = self.retried

        resources = []
        for resources_item_data in self.resources:
            resources_item = resources_item_data.to_dict()
            resources.append(resources_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "node": node,
                "state": state,
                "retried": retried,
                "resources": resources,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.resource_ref import ResourceRef

        d = dict(src_dict)
        node = d.pop("node")

        state = NodeState(d.pop("state"))

        retried = d.pop("retried")

        resources = []
        _resources = d.pop("resources")
        for resources_item_data in _resources:
            resources_item = ResourceRef.from_dict(resources_item_data)

            resources.append(resources_item)

        retry = cls(
            node=node,
            state=state,
            retried=retried,
            resources=resources,
        )

        retry.additional_properties = d
        return retry

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
