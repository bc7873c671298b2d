from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.node_state import NodeState
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.node_labels import NodeLabels
    from ..models.node_reason import NodeReason


T = TypeVar("T", bound="NodeReasons")


@_attrs_define
class NodeReasons:
    node: str
    """ The node's id. """
    state: NodeState
    """ `refusing`: live, and at least one resource stands refused. """
    settled: int
    """ The newest revision that it has answered whole: it runs it, but for what it refuses and what is withheld
    from it; 0 for none yet. """
    revision: int
    """ The fleet's revision that this is about. """
    labels: NodeLabels
    """ What selectors ask of a node, as it said when it connected last. """
    items: list[NodeReason]
    labels_unknown: bool | Unset = UNSET
    """ Not all of them are known; left out where they are. """
    next_cursor: str | Unset = UNSET
    """ Left out on the last page. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        node = self.node

        state = self.state.value

        settled = self.settled

        revision = self.revision

        labels = self.labels.to_dict()

        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        labels_unknown = self.labels_unknown

        next_cursor = self.next_cursor

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "node": node,
                "state": state,
                "settled": settled,
                "revision": revision,
                "labels": labels,
                "items": items,
            }
        )
        if labels_unknown is not UNSET:
            field_dict["labels_unknown"] = labels_unknown
        if next_cursor is not UNSET:
            field_dict["next_cursor"] = next_cursor

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.node_labels import NodeLabels
        from ..models.node_reason import NodeReason

        d = dict(src_dict)
        node = d.pop("node")

        state = NodeState(d.pop("state"))

        settled = d.pop("settled")

        revision = d.pop("revision")

        labels = NodeLabels.from_dict(d.pop("labels"))

        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = NodeReason.from_dict(items_item_data)

            items.append(items_item)

        labels_unknown = d.pop("labels_unknown", UNSET)

        next_cursor = d.pop("next_cursor", UNSET)

        node_reasons = cls(
            node=node,
            state=state,
            settled=settled,
            revision=revision,
            labels=labels,
            items=items,
            labels_unknown=labels_unknown,
            next_cursor=next_cursor,
        )

        node_reasons.additional_properties = d
        return node_reasons

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
