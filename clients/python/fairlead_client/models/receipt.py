from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.receipt_state import ReceiptState
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.receipt_counts import ReceiptCounts
    from ..models.receipt_node import ReceiptNode


T = TypeVar("T", bound="Receipt")


@_attrs_define
class Receipt:
    revision: int
    state: ReceiptState
    """ `rejected` if any node refused something of the revision, else `pending` if any node has not answered or has
    left without an answer (`counts.left`), else `delivered` if any
    node has it. `stored`: no node has it and none is connected that could be waited for; a node that comes later
    makes it `delivered`.
     """
    counts: ReceiptCounts
    nodes: list[ReceiptNode]
    """ Up to 100 nodes that have not acknowledged it, or that refuse something at present. """
    committed_at: datetime.datetime
    first_ack_ms: float | Unset = UNSET
    """ From the commit to the first acknowledgement. """
    last_ack_ms: float | Unset = UNSET
    """ From the commit to the last acknowledgement so far. """
    next_cursor: str | Unset = UNSET
    """ Left out on the last page. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        revision = self.revision

        state = self.state.value

        counts = self.counts.to_dict()

        nodes = []
        for nodes_item_data in self.nodes:
            nodes_item = nodes_item_data.to_dict()
            nodes.append(nodes_item)

        committed_at = self.committed_at.isoformat()

        first_ack_ms = self.first_ack_ms

        last_ack_ms = self.last_ack_ms

        next_cursor = self.next_cursor

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "revision": revision,
                "state": state,
                "counts": counts,
                "nodes": nodes,
                "committed_at": committed_at,
            }
        )
        if first_ack_ms is not UNSET:
            field_dict["first_ack_ms"] = first_ack_ms
        if last_ack_ms is not UNSET:
            field_dict["last_ack_ms"] = last_ack_ms
        if next_cursor is not UNSET:
            field_dict["next_cursor"] = next_cursor

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.receipt_counts import ReceiptCounts
        from ..models.receipt_node import ReceiptNode

        d = dict(src_dict)
        revision = d.pop("revision")

        state = ReceiptState(d.pop("state"))

        counts = ReceiptCounts.from_dict(d.pop("counts"))

        nodes = []
        _nodes = d.pop("nodes")
        for nodes_item_data in _nodes:
            nodes_item = ReceiptNode.from_dict(nodes_item_data)

            nodes.append(nodes_item)

        committed_at = datetime.datetime.fromisoformat(d.pop("committed_at"))

        first_ack_ms = d.pop("first_ack_ms", UNSET)

        last_ack_ms = d.pop("last_ack_ms", UNSET)

        next_cursor = d.pop("next_cursor", UNSET)

        receipt = cls(
            revision=revision,
            state=state,
            counts=counts,
            nodes=nodes,
            committed_at=committed_at,
            first_ack_ms=first_ack_ms,
            last_ack_ms=last_ack_ms,
            next_cursor=next_cursor,
        )

        receipt.additional_properties = d
        return receipt

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
