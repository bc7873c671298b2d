from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="LeaseTake")


@_attrs_define
class LeaseTake:
    """
    Example:
        {'ttl': '30s'}

    """

    ttl: str
    """ For how long it holds unless it is renewed: 5s to 24h, a whole number of s, m or h. """
    keep_last: bool | Unset = False
    """ When it expires, the last endpoints of a cluster stay. For what feeds many: that it died does not say that
    they did. """

    def to_dict(self) -> dict[str, Any]:
        ttl = self.ttl

        keep_last = self.keep_last

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "ttl": ttl,
            }
        )
        if keep_last is not UNSET:
            field_dict["keep_last"] = keep_last

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        ttl = d.pop("ttl")

        keep_last = d.pop("keep_last", UNSET)

        lease_take = cls(
            ttl=ttl,
            keep_last=keep_last,
        )

        return lease_take
