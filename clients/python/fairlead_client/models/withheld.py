from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.withheld_reason import WithheldReason
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.resource_ref import ResourceRef


T = TypeVar("T", bound="Withheld")


@_attrs_define
class Withheld:
    resource: ResourceRef
    by: ResourceRef
    reason: WithheldReason
    """ `missing`: what it waits for does not exist, so write it. `refused`: this node refuses that, so correct it.
    `sealed`: that is a secret, maybe the resource itself, which is sealed with a key that the node's xDS server
    does not have; let the servers have keys of one pair and write the secret again. `too_large`: it waits for
    itself, `by`. With it the node's set would be larger than the node takes at once, so make one of the set
    smaller, or let the node ask for less. """
    revision: int | Unset = UNSET
    """ The revision that brought what is kept back; it alone stays pending for it. Left out where it is not known.
    """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        resource = self.resource.to_dict()

        by = self.by.to_dict()

        reason = self.reason.value

        revision = self.revision

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "resource": resource,
                "by": by,
                "reason": reason,
            }
        )
        if revision is not UNSET:
            field_dict["revision"] = revision

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.resource_ref import ResourceRef

        d = dict(src_dict)
        resource = ResourceRef.from_dict(d.pop("resource"))

        by = ResourceRef.from_dict(d.pop("by"))

        reason = WithheldReason(d.pop("reason"))

        revision = d.pop("revision", UNSET)

        withheld = cls(
            resource=resource,
            by=by,
            reason=reason,
            revision=revision,
        )

        withheld.additional_properties = d
        return withheld

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
