from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="TopologyEdge")


@_attrs_define
class TopologyEdge:
    from_: int
    """ Place in `resources`, from 0. """
    to: int
    """ The same of what it leads to. """
    mentions: int
    """ In how many places it stands. """
    variant: str | Unset = UNSET
    """ The first variant in which it stands; left out for the default one. """
    pointer: str | Unset = UNSET
    """ JSON Pointer (RFC 6901) into the document where it stands first. Left out where it follows from something
    else, as of a route that fetches virtual hosts. """

    def to_dict(self) -> dict[str, Any]:
        from_ = self.from_

        to = self.to

        mentions = self.mentions

        variant = self.variant

        pointer = self.pointer

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "from": from_,
                "to": to,
                "mentions": mentions,
            }
        )
        if variant is not UNSET:
            field_dict["variant"] = variant
        if pointer is not UNSET:
            field_dict["pointer"] = pointer

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        from_ = d.pop("from")

        to = d.pop("to")

        mentions = d.pop("mentions")

        variant = d.pop("variant", UNSET)

        pointer = d.pop("pointer", UNSET)

        topology_edge = cls(
            from_=from_,
            to=to,
            mentions=mentions,
            variant=variant,
            pointer=pointer,
        )

        return topology_edge
