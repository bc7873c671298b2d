from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.node import Node


T = TypeVar("T", bound="NodeList")


@_attrs_define
class NodeList:
    items: list[Node]
    matches: int | Unset = UNSET
    """ With `count`: how many nodes the filters let pass, from this page on. """
    matches_cut: bool | Unset = UNSET
    """ With `count`: there are more nodes than were looked at. Left out where all were. """
    labels_unknown: int | Unset = UNSET
    """ With a selector: how many nodes were skipped on this page because their labels are not known. Left out for
    none. """
    next_cursor: str | Unset = UNSET
    """ Left out on the last page. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        matches = self.matches

        matches_cut = self.matches_cut

        labels_unknown = self.labels_unknown

        next_cursor = self.next_cursor

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "items": items,
            }
        )
        if matches is not UNSET:
            field_dict["matches"] = matches
        if matches_cut is not UNSET:
            field_dict["matches_cut"] = matches_cut
        if labels_unknown is not UNSET:
            field_dict["labels_unknown"] = labels_unknown
        if next_cursor is not UNSET:
            field_dict["next_cursor"] = next_cursor

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.node import Node

        d = dict(src_dict)
        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = Node.from_dict(items_item_data)

            items.append(items_item)

        matches = d.pop("matches", UNSET)

        matches_cut = d.pop("matches_cut", UNSET)

        labels_unknown = d.pop("labels_unknown", UNSET)

        next_cursor = d.pop("next_cursor", UNSET)

        node_list = cls(
            items=items,
            matches=matches,
            matches_cut=matches_cut,
            labels_unknown=labels_unknown,
            next_cursor=next_cursor,
        )

        node_list.additional_properties = d
        return node_list

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
