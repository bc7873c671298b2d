from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.resource_type import ResourceType
from ..types import UNSET, Unset

T = TypeVar("T", bound="NodeSubscription")


@_attrs_define
class NodeSubscription:
    """How a node asks for the resources of a type."""

    type_: ResourceType
    """ The resource's type, by the name of its list. """
    wildcard: bool
    """ It asks for all of the type; if not, for some by name. """
    names: list[str] | Unset = UNSET
    """ Of listeners that it asks for by name, as gRPC clients do, which. Of other types they are left out. """
    named: int | Unset = UNSET
    """ How many listeners it asks for by name, in place of their names, where they are more than twenty. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_.value

        wildcard = self.wildcard

        names: list[str] | Unset = UNSET
        if not isinstance(self.names, Unset):
            names = self.names

        named = self.named

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "wildcard": wildcard,
            }
        )
        if names is not UNSET:
            field_dict["names"] = names
        if named is not UNSET:
            field_dict["named"] = named

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        type_ = ResourceType(d.pop("type"))

        wildcard = d.pop("wildcard")

        names = cast(list[str], d.pop("names", UNSET))

        named = d.pop("named", UNSET)

        node_subscription = cls(
            type_=type_,
            wildcard=wildcard,
            names=names,
            named=named,
        )

        node_subscription.additional_properties = d
        return node_subscription

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
