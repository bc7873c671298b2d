from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="SessionsEnded")


@_attrs_define
class SessionsEnded:
    ended: int
    """ How many were open, and are not any more. """

    def to_dict(self) -> dict[str, Any]:
        ended = self.ended

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "ended": ended,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        ended = d.pop("ended")

        sessions_ended = cls(
            ended=ended,
        )

        return sessions_ended
