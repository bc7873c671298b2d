from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.resource_type import ResourceType

T = TypeVar("T", bound="SchemaOfType")


@_attrs_define
class SchemaOfType:
    type_: ResourceType
    """ The resource's type, by the name of its list. """
    message: str
    """ The full name of Envoy's message. """
    path: str
    """ Where the schema is. """

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_.value

        message = self.message

        path = self.path

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "type": type_,
                "message": message,
                "path": path,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        type_ = ResourceType(d.pop("type"))

        message = d.pop("message")

        path = d.pop("path")

        schema_of_type = cls(
            type_=type_,
            message=message,
            path=path,
        )

        return schema_of_type
