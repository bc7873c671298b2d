from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PlanCounts")


@_attrs_define
class PlanCounts:
    create: int
    update: int
    delete: int
    unchanged: int
    """ The same is stored already, or what is to be deleted is not there. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        create = self.create

        update = self.update

        delete = self.delete

        unchanged = self.unchanged

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "create": create,
                "update": update,
                "delete": delete,
                "unchanged": unchanged,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        create = d.pop("create")

        update = d.pop("update")

        delete = d.pop("delete")

        unchanged = d.pop("unchanged")

        plan_counts = cls(
            create=create,
            update=update,
            delete=delete,
            unchanged=unchanged,
        )

        plan_counts.additional_properties = d
        return plan_counts

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
