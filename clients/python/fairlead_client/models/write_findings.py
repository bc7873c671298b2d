from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.finding import Finding


T = TypeVar("T", bound="WriteFindings")


@_attrs_define
class WriteFindings:
    """What is to be said of the fleet because of the write: of the resources that it names, whether it changed them or
    not, and of what names those that
    some nodes have no variant of any more. See docs/findings.md; `unreachable` is told by the fleet's findings alone.

    """

    errors: int
    """ How many there are of severity `error`, listed or not. """
    warnings: int
    """ The same of `warning`. """
    infos: int
    """ The same of `info`. """
    items: list[Finding]
    """ The worst first, at most 100. """
    more: bool | Unset = UNSET
    """ More resources name what the write takes away than were looked at. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        errors = self.errors

        warnings = self.warnings

        infos = self.infos

        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        more = self.more

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "errors": errors,
                "warnings": warnings,
                "infos": infos,
                "items": items,
            }
        )
        if more is not UNSET:
            field_dict["more"] = more

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.finding import Finding

        d = dict(src_dict)
        errors = d.pop("errors")

        warnings = d.pop("warnings")

        infos = d.pop("infos")

        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = Finding.from_dict(items_item_data)

            items.append(items_item)

        more = d.pop("more", UNSET)

        write_findings = cls(
            errors=errors,
            warnings=warnings,
            infos=infos,
            items=items,
            more=more,
        )

        write_findings.additional_properties = d
        return write_findings

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
