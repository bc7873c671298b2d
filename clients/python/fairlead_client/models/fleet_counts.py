from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.receipt_state import ReceiptState
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.node_counts import NodeCounts
    from ..models.type_count import TypeCount


T = TypeVar("T", bound="FleetCounts")


@_attrs_define
class FleetCounts:
    """What the fleet consists of at present. In the answer of `getFleet`, and in a list that was asked with `counts=true`:
    to count costs what the fleet has, which a list pays
    for each of its fleets.

    """

    nodes: NodeCounts
    """ How many nodes are in each state. """
    resources: list[TypeCount]
    """ How many there are of each type that the fleet has. """
    open_refusals: int
    """ How many refusals stand, of all nodes. """
    receipt: ReceiptState | Unset = UNSET
    """ `rejected` if any node refused something of the revision, else `pending` if any node has not answered or has
    left without an answer (`counts.left`), else `delivered` if any
    node has it. `stored`: no node has it and none is connected that could be waited for; a node that comes later
    makes it `delivered`.
     """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        nodes = self.nodes.to_dict()

        resources = []
        for resources_item_data in self.resources:
            resources_item = resources_item_data.to_dict()
            resources.append(resources_item)

        open_refusals = self.open_refusals

        receipt: str | Unset = UNSET
        if not isinstance(self.receipt, Unset):
            receipt = self.receipt.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "nodes": nodes,
                "resources": resources,
                "open_refusals": open_refusals,
            }
        )
        if receipt is not UNSET:
            field_dict["receipt"] = receipt

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.node_counts import NodeCounts
        from ..models.type_count import TypeCount

        d = dict(src_dict)
        nodes = NodeCounts.from_dict(d.pop("nodes"))

        resources = []
        _resources = d.pop("resources")
        for resources_item_data in _resources:
            resources_item = TypeCount.from_dict(resources_item_data)

            resources.append(resources_item)

        open_refusals = d.pop("open_refusals")

        _receipt = d.pop("receipt", UNSET)
        receipt: ReceiptState | Unset
        if isinstance(_receipt, Unset):
            receipt = UNSET
        else:
            receipt = ReceiptState(_receipt)

        fleet_counts = cls(
            nodes=nodes,
            resources=resources,
            open_refusals=open_refusals,
            receipt=receipt,
        )

        fleet_counts.additional_properties = d
        return fleet_counts

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
