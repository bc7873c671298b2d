from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.maker import Maker
    from ..models.tenant_event_detail import TenantEventDetail


T = TypeVar("T", bound="TenantEvent")


@_attrs_define
class TenantEvent:
    at: datetime.datetime
    kind: str
    """ What was done. More kinds may come. """
    object_: str
    """ What it was done to. """
    by: Maker
    """ Who did it. """
    detail: TenantEventDetail | Unset = UNSET
    """ What the kind has more to say: names and numbers, never a secret. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        kind = self.kind

        object_ = self.object_

        by = self.by.to_dict()

        detail: dict[str, Any] | Unset = UNSET
        if not isinstance(self.detail, Unset):
            detail = self.detail.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "kind": kind,
                "object": object_,
                "by": by,
            }
        )
        if detail is not UNSET:
            field_dict["detail"] = detail

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.maker import Maker
        from ..models.tenant_event_detail import TenantEventDetail

        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        kind = d.pop("kind")

        object_ = d.pop("object")

        by = Maker.from_dict(d.pop("by"))

        _detail = d.pop("detail", UNSET)
        detail: TenantEventDetail | Unset
        if isinstance(_detail, Unset):
            detail = UNSET
        else:
            detail = TenantEventDetail.from_dict(_detail)

        tenant_event = cls(
            at=at,
            kind=kind,
            object_=object_,
            by=by,
            detail=detail,
        )

        tenant_event.additional_properties = d
        return tenant_event

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
