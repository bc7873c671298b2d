from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.resource_type import ResourceType
from ..types import UNSET, Unset

T = TypeVar("T", bound="ResourceName")


@_attrs_define
class ResourceName:
    type_: ResourceType
    """ The resource's type, by the name of its list. """
    name: str
    variant: str | Unset = UNSET
    """ Left out for the default variant. """

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_.value

        name = self.name

        variant = self.variant

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "type": type_,
                "name": name,
            }
        )
        if variant is not UNSET:
            field_dict["variant"] = variant

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        type_ = ResourceType(d.pop("type"))

        name = d.pop("name")

        variant = d.pop("variant", UNSET)

        resource_name = cls(
            type_=type_,
            name=name,
            variant=variant,
        )

        return resource_name
