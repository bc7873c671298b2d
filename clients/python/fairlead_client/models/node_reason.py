from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.node_resource import NodeResource
    from ..models.node_why import NodeWhy


T = TypeVar("T", bound="NodeReason")


@_attrs_define
class NodeReason:
    resource: NodeResource
    """ One resource of the fleet as it is for one node. """
    because: str
    """ In a sentence, for people. """
    why: NodeWhy
    """ How the variant was chosen. Of the default variant it has the variants alone that were skipped. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        resource = self.resource.to_dict()

        because = self.because

        why = self.why.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "resource": resource,
                "because": because,
                "why": why,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.node_resource import NodeResource
        from ..models.node_why import NodeWhy

        d = dict(src_dict)
        resource = NodeResource.from_dict(d.pop("resource"))

        because = d.pop("because")

        why = NodeWhy.from_dict(d.pop("why"))

        node_reason = cls(
            resource=resource,
            because=because,
            why=why,
        )

        node_reason.additional_properties = d
        return node_reason

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
