from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.tenant_live_what import TenantLiveWhat
from ..types import UNSET, Unset

T = TypeVar("T", bound="TenantLiveNews")


@_attrs_define
class TenantLiveNews:
    what: list[TenantLiveWhat]
    """ What is to be looked at again; empty where nothing has changed. """
    position: str
    """ The place up to which this tells: the `after` of the next question. """
    fleets: list[str] | Unset = UNSET
    """ The names of the fleets of which something has changed, by name; also of one that is gone. Left out where it
    is not known which, or where they are more than 100: then look at all of them. """

    def to_dict(self) -> dict[str, Any]:
        what = []
        for what_item_data in self.what:
            what_item = what_item_data.value
            what.append(what_item)

        position = self.position

        fleets: list[str] | Unset = UNSET
        if not isinstance(self.fleets, Unset):
            fleets = self.fleets

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "what": what,
                "position": position,
            }
        )
        if fleets is not UNSET:
            field_dict["fleets"] = fleets

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        what = []
        _what = d.pop("what")
        for what_item_data in _what:
            what_item = TenantLiveWhat(what_item_data)

            what.append(what_item)

        position = d.pop("position")

        fleets = cast(list[str], d.pop("fleets", UNSET))

        tenant_live_news = cls(
            what=what,
            position=position,
            fleets=fleets,
        )

        return tenant_live_news
