from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="OwnSession")


@_attrs_define
class OwnSession:
    """Of a caller that came with a session's cookie, that session. To ask for it is no use of it."""

    id: str
    expires_at: datetime.datetime
    """ When it ends at the latest, used or not. """
    idle_at: datetime.datetime
    """ When it ends unless it is used before. Use is noted to the minute. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        expires_at = self.expires_at.isoformat()

        idle_at = self.idle_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "expires_at": expires_at,
                "idle_at": idle_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        idle_at = datetime.datetime.fromisoformat(d.pop("idle_at"))

        own_session = cls(
            id=id,
            expires_at=expires_at,
            idle_at=idle_at,
        )

        own_session.additional_properties = d
        return own_session

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
