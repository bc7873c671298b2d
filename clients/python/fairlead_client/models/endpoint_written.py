from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.field_error import FieldError


T = TypeVar("T", bound="EndpointWritten")


@_attrs_define
class EndpointWritten:
    set_: int
    """ How many are new or others than they were. """
    removed: int
    """ How many were there and are not any more. """
    warnings: list[FieldError] | Unset = UNSET
    """ What was stored and is not used: `unreachable`, where endpoints are put under a name that no cluster of the
    fleet asks for. The clusters of the fleet's
    `static_clusters` and `private_clusters` may be asked for by the proxies' bootstrap, and are not warned of.
     """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        set_ = self.set_

        removed = self.removed

        warnings: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = []
            for warnings_item_data in self.warnings:
                warnings_item = warnings_item_data.to_dict()
                warnings.append(warnings_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "set": set_,
                "removed": removed,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.field_error import FieldError

        d = dict(src_dict)
        set_ = d.pop("set")

        removed = d.pop("removed")

        _warnings = d.pop("warnings", UNSET)
        warnings: list[FieldError] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = FieldError.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        endpoint_written = cls(
            set_=set_,
            removed=removed,
            warnings=warnings,
        )

        endpoint_written.additional_properties = d
        return endpoint_written

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
