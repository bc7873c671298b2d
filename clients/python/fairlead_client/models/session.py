from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.session_token import SessionToken


T = TypeVar("T", bound="Session")


@_attrs_define
class Session:
    id: str
    token: SessionToken
    """ The token that a session acts as. """
    current: bool
    """ Whether it is the caller's own. """
    created_at: datetime.datetime
    last_seen_at: datetime.datetime
    """ When it was used last, to the minute. """
    idle_at: datetime.datetime
    """ When it ends unless it is used before. """
    expires_at: datetime.datetime
    """ When it ends at the latest. """
    address: str | Unset = UNSET
    """ Where it was begun from: the socket's address, never a header's. """
    user_agent: str | Unset = UNSET
    """ What the browser called itself, 256 bytes at most: anybody's text. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        token = self.token.to_dict()

        current = self.current

        created_at = self.created_at.isoformat()

        last_seen_at = self.last_seen_at.isoformat()

        idle_at = self.idle_at.isoformat()

        expires_at = self.expires_at.isoformat()

        address = self.address

        user_agent = self.user_agent

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "token": token,
                "current": current,
                "created_at": created_at,
                "last_seen_at": last_seen_at,
                "idle_at": idle_at,
                "expires_at": expires_at,
            }
        )
        if address is not UNSET:
            field_dict["address"] = address
        if user_agent is not UNSET:
            field_dict["user_agent"] = user_agent

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.session_token import SessionToken

        d = dict(src_dict)
        id = d.pop("id")

        token = SessionToken.from_dict(d.pop("token"))

        current = d.pop("current")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        last_seen_at = datetime.datetime.fromisoformat(d.pop("last_seen_at"))

        idle_at = datetime.datetime.fromisoformat(d.pop("idle_at"))

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        address = d.pop("address", UNSET)

        user_agent = d.pop("user_agent", UNSET)

        session = cls(
            id=id,
            token=token,
            current=current,
            created_at=created_at,
            last_seen_at=last_seen_at,
            idle_at=idle_at,
            expires_at=expires_at,
            address=address,
            user_agent=user_agent,
        )

        session.additional_properties = d
        return session

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
