from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.confirm_code import ConfirmCode
from ..models.resource_type import ResourceType
from ..types import UNSET, Unset

T = TypeVar("T", bound="ConfirmReason")


@_attrs_define
class ConfirmReason:
    """Why somebody is to confirm a write."""

    code: ConfirmCode
    """ `most_of_type`: more than half of the resources of `type` go, and three at least. `removes_many`: a rollback
    removes more than ten resources. `refused_version`: a
    rollback brings back versions that nodes have refused. `live_nodes`: nodes are connected to the fleet, or the
    tenant, that goes.
     """
    count: int
    """ How many: of `live_nodes` nodes, else resources. """
    detail: str
    """ One sentence for a person. """
    type_: ResourceType | Unset = UNSET
    """ The resource's type, by the name of its list. """
    of: int | Unset = UNSET
    """ With `most_of_type`, how many of the type the fleet has. """
    nodes: int | Unset = UNSET
    """ With `refused_version`, how many nodes have refused one of them. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        code = self.code.value

        count = self.count

        detail = self.detail

        type_: str | Unset = UNSET
        if not isinstance(self.type_, Unset):
            type_ = self.type_.value

        of = self.of

        nodes = self.nodes

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "count": count,
                "detail": detail,
            }
        )
        if type_ is not UNSET:
            field_dict["type"] = type_
        if of is not UNSET:
            field_dict["of"] = of
        if nodes is not UNSET:
            field_dict["nodes"] = nodes

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        code = ConfirmCode(d.pop("code"))

        count = d.pop("count")

        detail = d.pop("detail")

        _type_ = d.pop("type", UNSET)
        type_: ResourceType | Unset
        if isinstance(_type_, Unset):
            type_ = UNSET
        else:
            type_ = ResourceType(_type_)

        of = d.pop("of", UNSET)

        nodes = d.pop("nodes", UNSET)

        confirm_reason = cls(
            code=code,
            count=count,
            detail=detail,
            type_=type_,
            of=of,
            nodes=nodes,
        )

        confirm_reason.additional_properties = d
        return confirm_reason

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
