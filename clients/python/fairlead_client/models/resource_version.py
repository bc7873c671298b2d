from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.resource_type import ResourceType
from ..types import UNSET, Unset

T = TypeVar("T", bound="ResourceVersion")


@_attrs_define
class ResourceVersion:
    """One resource after a write."""

    type_: ResourceType
    """ The resource's type, by the name of its list. """
    name: str
    revision: int
    """ Of its last change; 0 where there is nothing and never was. """
    variant: str | Unset = UNSET
    deleted: bool | Unset = UNSET
    version: str | Unset = UNSET
    """ Left out of a deleted resource. """
    etag: str | Unset = UNSET
    """ Left out of a deleted resource. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_.value

        name = self.name

        revision = self.revision

        variant = self.variant

        deleted = self.deleted

        version = self.version

        etag = self.etag

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "name": name,
                "revision": revision,
            }
        )
        if variant is not UNSET:
            field_dict["variant"] = variant
        if deleted is not UNSET:
            field_dict["deleted"] = deleted
        if version is not UNSET:
            field_dict["version"] = version
        if etag is not UNSET:
            field_dict["etag"] = etag

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        type_ = ResourceType(d.pop("type"))

        name = d.pop("name")

        revision = d.pop("revision")

        variant = d.pop("variant", UNSET)

        deleted = d.pop("deleted", UNSET)

        version = d.pop("version", UNSET)

        etag = d.pop("etag", UNSET)

        resource_version = cls(
            type_=type_,
            name=name,
            revision=revision,
            variant=variant,
            deleted=deleted,
            version=version,
            etag=etag,
        )

        resource_version.additional_properties = d
        return resource_version

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
