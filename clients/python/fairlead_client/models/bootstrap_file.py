from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="BootstrapFile")


@_attrs_define
class BootstrapFile:
    name: str
    text: str
    path: str | Unset = UNSET
    """ Where the first file expects it. Left out of that. """

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        text = self.text

        path = self.path

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "text": text,
            }
        )
        if path is not UNSET:
            field_dict["path"] = path

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        text = d.pop("text")

        path = d.pop("path", UNSET)

        bootstrap_file = cls(
            name=name,
            text=text,
            path=path,
        )

        return bootstrap_file
