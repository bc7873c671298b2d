from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.finding_code import FindingCode
from ..models.finding_severity import FindingSeverity
from ..models.resource_type import ResourceType
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.resource_ref import ResourceRef


T = TypeVar("T", bound="Finding")


@_attrs_define
class Finding:
    code: FindingCode
    """ What kind of finding it is; docs/findings.md describes each. """
    severity: FindingSeverity
    """ `error`: traffic fails, or nodes do not get what was written. `warning`: it will be an error soon, or is
    probably a mistake. `info`: nothing is harmed. """
    type_: ResourceType
    """ The resource's type, by the name of its list. """
    name: str
    """ Of the resource; of `old_bootstrap`, `credential_expires` and `token_expires`, which are about none, it is
    the cluster in the nodes' own bootstrap. """
    pointer: str
    """ JSON Pointer (RFC 6901) into the resource as it is read; "" is all of it. """
    detail: str
    """ A sentence for people, which says what to do. """
    variant: str | Unset = UNSET
    """ Of the resource; not there for the default one. """
    to: ResourceRef | Unset = UNSET
    to_variant: str | Unset = UNSET
    """ Of the other resource that it is about, `to`. """
    nodes: int | Unset = UNSET
    """ How many nodes it is about, where it is about some only. """
    at: str | Unset = UNSET
    """ In the answer of a write: JSON Pointer (RFC 6901) into what was sent, where what it is about stands there.
    """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        code = self.code.value

        severity = self.severity.value

        type_ = self.type_.value

        name = self.name

        pointer = self.pointer

        detail = self.detail

        variant = self.variant

        to: dict[str, Any] | Unset = UNSET
        if not isinstance(self.to, Unset):
            to = self.to.to_dict()

        to_variant = self.to_variant

        nodes = self.nodes

        at = self.at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "severity": severity,
                "type": type_,
                "name": name,
                "pointer": pointer,
                "detail": detail,
            }
        )
        if variant is not UNSET:
            field_dict["variant"] = variant
        if to is not UNSET:
            field_dict["to"] = to
        if to_variant is not UNSET:
            field_dict["to_variant"] = to_variant
        if nodes is not UNSET:
            field_dict["nodes"] = nodes
        if at is not UNSET:
            field_dict["at"] = at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.resource_ref import ResourceRef

        d = dict(src_dict)
        code = FindingCode(d.pop("code"))

        severity = FindingSeverity(d.pop("severity"))

        type_ = ResourceType(d.pop("type"))

        name = d.pop("name")

        pointer = d.pop("pointer")

        detail = d.pop("detail")

        variant = d.pop("variant", UNSET)

        _to = d.pop("to", UNSET)
        to: ResourceRef | Unset
        if isinstance(_to, Unset):
            to = UNSET
        else:
            to = ResourceRef.from_dict(_to)

        to_variant = d.pop("to_variant", UNSET)

        nodes = d.pop("nodes", UNSET)

        at = d.pop("at", UNSET)

        finding = cls(
            code=code,
            severity=severity,
            type_=type_,
            name=name,
            pointer=pointer,
            detail=detail,
            variant=variant,
            to=to,
            to_variant=to_variant,
            nodes=nodes,
            at=at,
        )

        finding.additional_properties = d
        return finding

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
