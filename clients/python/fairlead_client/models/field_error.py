from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.last_change import LastChange


T = TypeVar("T", bound="FieldError")


@_attrs_define
class FieldError:
    """One fault of the input."""

    code: str
    """ A stable word for programs. """
    detail: str
    pointer: str | Unset = UNSET
    """ JSON Pointer (RFC 6901) into the body that was sent, YAML read as JSON; "" is all of it. """
    parameter: str | Unset = UNSET
    """ The path, query or header parameter at fault. """
    last_change: LastChange | Unset = UNSET
    """ With 412, who changed the resource last, or deleted it. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        code = self.code

        detail = self.detail

        pointer = self.pointer

        parameter = self.parameter

        last_change: dict[str, Any] | Unset = UNSET
        if not isinstance(self.last_change, Unset):
            last_change = self.last_change.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "code": code,
                "detail": detail,
            }
        )
        if pointer is not UNSET:
            field_dict["pointer"] = pointer
        if parameter is not UNSET:
            field_dict["parameter"] = parameter
        if last_change is not UNSET:
            field_dict["last_change"] = last_change

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.last_change import LastChange

        d = dict(src_dict)
        code = d.pop("code")

        detail = d.pop("detail")

        pointer = d.pop("pointer", UNSET)

        parameter = d.pop("parameter", UNSET)

        _last_change = d.pop("last_change", UNSET)
        last_change: LastChange | Unset
        if isinstance(_last_change, Unset):
            last_change = UNSET
        else:
            last_change = LastChange.from_dict(_last_change)

        field_error = cls(
            code=code,
            detail=detail,
            pointer=pointer,
            parameter=parameter,
            last_change=last_change,
        )

        field_error.additional_properties = d
        return field_error

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
