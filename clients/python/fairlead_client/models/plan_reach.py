from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.plan_view import PlanView


T = TypeVar("T", bound="PlanReach")


@_attrs_define
class PlanReach:
    """Whom it reaches: the nodes that would get something else than they have, by the labels that they have sent, whether
    or not they are connected. Which
    of it a node asks for is not looked at. Left out where it cannot be told at the moment.

    """

    nodes: int
    """ How many nodes the fleet remembers. """
    reached: int
    """ How many of them it reaches. """
    views: list[PlanView]
    """ Those that it reaches, by what the selectors of what is written decide about them. The 100 largest groups.
    """
    ids: list[str]
    """ A page of the ids of those that it reaches, in order. """
    incomplete: bool | Unset = UNSET
    """ The fleet has more nodes than were looked at, or more labels: it may reach more, or others. """
    more_views: bool | Unset = UNSET
    """ There are more groups. """
    next_cursor: str | Unset = UNSET
    """ For the next page of ids. It is left out on the last one. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        nodes = self.nodes

        reached = self.reached

        views = []
        for views_item_data in self.views:
            views_item = views_item_data.to_dict()
            views.append(views_item)

        ids = self.ids

        incomplete = self.incomplete

        more_views = self.more_views

        next_cursor = self.next_cursor

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "nodes": nodes,
                "reached": reached,
                "views": views,
                "ids": ids,
            }
        )
        if incomplete is not UNSET:
            field_dict["incomplete"] = incomplete
        if more_views is not UNSET:
            field_dict["more_views"] = more_views
        if next_cursor is not UNSET:
            field_dict["next_cursor"] = next_cursor

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.plan_view import PlanView

        d = dict(src_dict)
        nodes = d.pop("nodes")

        reached = d.pop("reached")

        views = []
        _views = d.pop("views")
        for views_item_data in _views:
            views_item = PlanView.from_dict(views_item_data)

            views.append(views_item)

        ids = cast(list[str], d.pop("ids"))

        incomplete = d.pop("incomplete", UNSET)

        more_views = d.pop("more_views", UNSET)

        next_cursor = d.pop("next_cursor", UNSET)

        plan_reach = cls(
            nodes=nodes,
            reached=reached,
            views=views,
            ids=ids,
            incomplete=incomplete,
            more_views=more_views,
            next_cursor=next_cursor,
        )

        plan_reach.additional_properties = d
        return plan_reach

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
