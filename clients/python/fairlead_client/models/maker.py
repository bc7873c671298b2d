from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.maker_kind import MakerKind
from ..types import UNSET, Unset

T = TypeVar("T", bound="Maker")


@_attrs_define
class Maker:
    """Who did it."""

    kind: MakerKind
    """ `token`: one of the tenant's own. `operator`: an operator of the installation. `server`: neither. """
    name: str
    """ The token's name. """
    id: str | Unset = UNSET
    """ The token's id; left out where none was used. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind.value

        name = self.name

        id = self.id

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "kind": kind,
                "name": name,
            }
        )
        if id is not UNSET:
            field_dict["id"] = id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        kind = MakerKind(d.pop("kind"))

        name = d.pop("name")

        id = d.pop("id", UNSET)

        maker = cls(
            kind=kind,
            name=name,
            id=id,
        )

        maker.additional_properties = d
        return maker

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
