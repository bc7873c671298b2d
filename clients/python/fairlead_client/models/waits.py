from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.resource_ref import ResourceRef
    from ..models.withheld import Withheld


T = TypeVar("T", bound="Waits")


@_attrs_define
class Waits:
    """What a connected node that is behind waits for; left out where it waits for nothing."""

    warming: list[ResourceRef]
    """ What it was sent and has not answered. Something that it needs is still open, or the node is stuck. """
    withheld: list[Withheld]
    """ What is kept from it at its last known good version, or away, and what each waits for. """
    withheld_by: list[ResourceRef]
    """ What `withheld` waits for, each once. """
    more: int | Unset = UNSET
    """ How many are left out of the lists, which name twenty each, or one of each revision where these are more.
    """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        warming = []
        for warming_item_data in self.warming:
            warming_item = warming_item_data.to_dict()
            warming.append(warming_item)

        withheld = []
        for withheld_item_data in self.withheld:
            withheld_item = withheld_item_data.to_dict()
            withheld.append(withheld_item)

        withheld_by = []
        for withheld_by_item_data in self.withheld_by:
            withheld_by_item = withheld_by_item_data.to_dict()
            withheld_by.append(withheld_by_item)

        more = self.more

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "warming": warming,
                "withheld": withheld,
                "withheld_by": withheld_by,
            }
        )
        if more is not UNSET:
            field_dict["more"] = more

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.resource_ref import ResourceRef
        from ..models.withheld import Withheld

        d = dict(src_dict)
        warming = []
        _warming = d.pop("warming")
        for warming_item_data in _warming:
            warming_item = ResourceRef.from_dict(warming_item_data)

            warming.append(warming_item)

        withheld = []
        _withheld = d.pop("withheld")
        for withheld_item_data in _withheld:
            withheld_item = Withheld.from_dict(withheld_item_data)

            withheld.append(withheld_item)

        withheld_by = []
        _withheld_by = d.pop("withheld_by")
        for withheld_by_item_data in _withheld_by:
            withheld_by_item = ResourceRef.from_dict(withheld_by_item_data)

            withheld_by.append(withheld_by_item)

        more = d.pop("more", UNSET)

        waits = cls(
            warming=warming,
            withheld=withheld,
            withheld_by=withheld_by,
            more=more,
        )

        waits.additional_properties = d
        return waits

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
