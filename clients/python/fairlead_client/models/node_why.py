from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.requirement import Requirement
    from ..models.variant_reason import VariantReason


T = TypeVar("T", bound="NodeWhy")


@_attrs_define
class NodeWhy:
    """How the variant was chosen. Of the default variant it has the variants alone that were skipped."""

    passed_over: list[VariantReason]
    """ The other variants: those that do not match, and those that another one goes before. Of more than 100 those
    that match come first. """
    selector: str | Unset = UNSET
    """ Of the variant that the node has. """
    priority: int | Unset = UNSET
    requirements: list[Requirement] | Unset = UNSET
    """ Of its selector; all of them hold. """
    more_passed_over: int | Unset = UNSET
    """ How many other variants were left off. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        passed_over = []
        for passed_over_item_data in self.passed_over:
            passed_over_item = passed_over_item_data.to_dict()
            passed_over.append(passed_over_item)

        selector = self.selector

        priority = self.priority

        requirements: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.requirements, Unset):
            requirements = []
            for requirements_item_data in self.requirements:
                requirements_item = requirements_item_data.to_dict()
                requirements.append(requirements_item)

        more_passed_over = self.more_passed_over

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "passed_over": passed_over,
            }
        )
        if selector is not UNSET:
            field_dict["selector"] = selector
        if priority is not UNSET:
            field_dict["priority"] = priority
        if requirements is not UNSET:
            field_dict["requirements"] = requirements
        if more_passed_over is not UNSET:
            field_dict["more_passed_over"] = more_passed_over

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.requirement import Requirement
        from ..models.variant_reason import VariantReason

        d = dict(src_dict)
        passed_over = []
        _passed_over = d.pop("passed_over")
        for passed_over_item_data in _passed_over:
            passed_over_item = VariantReason.from_dict(passed_over_item_data)

            passed_over.append(passed_over_item)

        selector = d.pop("selector", UNSET)

        priority = d.pop("priority", UNSET)

        _requirements = d.pop("requirements", UNSET)
        requirements: list[Requirement] | Unset = UNSET
        if _requirements is not UNSET:
            requirements = []
            for requirements_item_data in _requirements:
                requirements_item = Requirement.from_dict(requirements_item_data)

                requirements.append(requirements_item)

        more_passed_over = d.pop("more_passed_over", UNSET)

        node_why = cls(
            passed_over=passed_over,
            selector=selector,
            priority=priority,
            requirements=requirements,
            more_passed_over=more_passed_over,
        )

        node_why.additional_properties = d
        return node_why

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
