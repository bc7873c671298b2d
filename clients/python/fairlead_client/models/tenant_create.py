from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="TenantCreate")


@_attrs_define
class TenantCreate:
    """
    Example:
        {'slug': 'acme', 'name': 'Acme Corporation'}

    """

    slug: str
    """ Lower-case letters, digits and inner hyphens. """
    name: str | Unset = UNSET
    """ For people, at most 256 bytes; the slug where it is left out. """

    def to_dict(self) -> dict[str, Any]:
        slug = self.slug

        name = self.name

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "slug": slug,
            }
        )
        if name is not UNSET:
            field_dict["name"] = name

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        slug = d.pop("slug")

        name = d.pop("name", UNSET)

        tenant_create = cls(
            slug=slug,
            name=name,
        )

        return tenant_create
