from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.live_what import LiveWhat

T = TypeVar("T", bound="LiveNews")


@_attrs_define
class LiveNews:
    what: list[LiveWhat]
    """ What is to be looked at again; empty where nothing has changed. """
    position: str
    """ The place up to which this tells: the `after` of the next question. """

    def to_dict(self) -> dict[str, Any]:
        what = []
        for what_item_data in self.what:
            what_item = what_item_data.value
            what.append(what_item)

        position = self.position

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "what": what,
                "position": position,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        what = []
        _what = d.pop("what")
        for what_item_data in _what:
            what_item = LiveWhat(what_item_data)

            what.append(what_item)

        position = d.pop("position")

        live_news = cls(
            what=what,
            position=position,
        )

        return live_news
