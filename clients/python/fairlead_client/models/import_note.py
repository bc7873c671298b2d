from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ImportNote")


@_attrs_define
class ImportNote:
    what: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        what = self.what

        reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "what": what,
                "reason": reason,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        what = d.pop("what")

        reason = d.pop("reason")

        import_note = cls(
            what=what,
            reason=reason,
        )

        return import_note
