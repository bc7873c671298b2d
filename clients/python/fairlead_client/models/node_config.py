from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.node_state import NodeState
from ..models.resource_type import ResourceType
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.node_resource import NodeResource


T = TypeVar("T", bound="NodeConfig")


@_attrs_define
class NodeConfig:
    node: str
    """ The node's id. """
    state: NodeState
    """ `refusing`: live, and at least one resource stands refused. """
    settled: int
    """ The newest revision that it has answered whole: it runs it, but for what it refuses and what is withheld
    from it; 0 for none yet. """
    revision: int
    """ The fleet's revision that this page is of. """
    items: list[NodeResource]
    user_agent: str | Unset = UNSET
    """ What the client says of itself, like the version. """
    version: str | Unset = UNSET
    protocol: str | Unset = UNSET
    frozen: list[ResourceType] | Unset = UNSET
    """ Types of which it refuses more than a thousand resources: what is over is kept back from its present stream
    alone, and offered again on the next one. """
    labels_unknown: bool | Unset = UNSET
    """ Its labels are not known, or only without its metadata, which takes more than 16 KiB: where variants are
    told apart by it, the node may hold another one. """
    next_cursor: str | Unset = UNSET
    """ Left out on the last page. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        node = self.node

        state = self.state.value

        settled = self.settled

        revision = self.revision

        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        user_agent = self.user_agent

        version = self.version

        protocol = self.protocol

        frozen: list[str] | Unset = UNSET
        if not isinstance(self.frozen, Unset):
            frozen = []
            for frozen_item_data in self.frozen:
                frozen_item = frozen_item_data.value
                frozen.append(frozen_item)

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
                "items": items,
            }
        )
        if user_agent is not UNSET:
            field_dict["user_agent"] = user_agent
        if version is not UNSET:
            field_dict["version"] = version
        if protocol is not UNSET:
            field_dict["protocol"] = protocol
        if frozen is not UNSET:
            field_dict["frozen"] = frozen
        if labels_unknown is not UNSET:
            field_dict["labels_unknown"] = labels_unknown
        if next_cursor is not UNSET:
            field_dict["next_cursor"] = next_cursor

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.node_resource import NodeResource

        d = dict(src_dict)
        node = d.pop("node")

        state = NodeState(d.pop("state"))

        settled = d.pop("settled")

        revision = d.pop("revision")

        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = NodeResource.from_dict(items_item_data)

            items.append(items_item)

        user_agent = d.pop("user_agent", UNSET)

        version = d.pop("version", UNSET)

        protocol = d.pop("protocol", UNSET)

        _frozen = d.pop("frozen", UNSET)
        frozen: list[ResourceType] | Unset = UNSET
        if _frozen is not UNSET:
            frozen = []
            for frozen_item_data in _frozen:
                frozen_item = ResourceType(frozen_item_data)

                frozen.append(frozen_item)

        labels_unknown = d.pop("labels_unknown", UNSET)

        next_cursor = d.pop("next_cursor", UNSET)

        node_config = cls(
            node=node,
            state=state,
            settled=settled,
            revision=revision,
            items=items,
            user_agent=user_agent,
            version=version,
            protocol=protocol,
            frozen=frozen,
            labels_unknown=labels_unknown,
            next_cursor=next_cursor,
        )

        node_config.additional_properties = d
        return node_config

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
