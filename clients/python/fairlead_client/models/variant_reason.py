from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.requirement import Requirement


T = TypeVar("T", bound="VariantReason")


@_attrs_define
class VariantReason:
    variant: str
    selector: str
    priority: int
    matches: bool
    requirements: list[Requirement]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        variant = self.variant

        selector = self.selector

        priority = self.priority

        matches = self.matches

        requirements = []
        for requirements_item_data in self.requirements:
            requirements_item = requirements_item_data.to_dict()
            requirements.append(requirements_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "variant": variant,
                "selector": selector,
                "priority": priority,
                "matches": matches,
                "requirements": requirements,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.requirement import Requirement

        d = dict(src_dict)
        variant = d.pop("variant")

        selector = d.pop("selector")

        priority = d.pop("priority")

        matches = d.pop("matches")

        requirements = []
        _requirements = d.pop("requirements")
        for requirements_item_data in _requirements:
            requirements_item = Requirement.from_dict(requirements_item_data)

            requirements.append(requirements_item)

        variant_reason = cls(
            variant=variant,
            selector=selector,
            priority=priority,
            matches=matches,
            requirements=requirements,
        )

        variant_reason.additional_properties = d
        return variant_reason

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
