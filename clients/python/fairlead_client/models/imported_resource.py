from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.resource_type import ResourceType

T = TypeVar("T", bound="ImportedResource")


@_attrs_define
class ImportedResource:
    type_: ResourceType
    """ The resource's type, by the name of its list. """
    name: str
    body: Any
    """ Envoy's own message as proto3 JSON, with the field names of the proto files. `[redacted]` stands in the
    place of a key, a password or a token, which a
    resource may hold that was written before they were refused, and of what else Envoy marks as sensitive.
     """

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_.value

        name = self.name

        body = self.body

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "type": type_,
                "name": name,
                "body": body,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        type_ = ResourceType(d.pop("type"))

        name = d.pop("name")

        body = d.pop("body")

        imported_resource = cls(
            type_=type_,
            name=name,
            body=body,
        )

        return imported_resource
