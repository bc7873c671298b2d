from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.server_state import ServerState
from ..types import UNSET, Unset

T = TypeVar("T", bound="Server")


@_attrs_define
class Server:
    id: str
    """ Drawn when the server starts. """
    name: str
    """ The host's name, or what `--name` says. """
    state: ServerState
    started_at: datetime.datetime
    seen_at: datetime.datetime
    """ When it said last that it lives. """
    version: str | Unset = UNSET
    """ The version that it was built as, or the commit. Left out where the program does not know, and where the
    server is older than this. """
    streams: int | Unset = UNSET
    """ How many streams it had then. Left out of one that is gone, or does not tell. """
    fleets: int | Unset = UNSET
    """ How many fleets these are of. """
    seal_key: str | Unset = UNSET
    """ The id of the key with which it opens secrets. Left out of one that is gone, or does not tell. """
    lag_ms: float | Unset = UNSET
    """ How long before that it had known last, of the fleet where this is longest, that it serves what is the
    newest. It asks every 2 s: more than some seconds are too much. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        state = self.state.value

        started_at = self.started_at.isoformat()

        seen_at = self.seen_at.isoformat()

        version = self.version

        streams = self.streams

        fleets = self.fleets

        seal_key = self.seal_key

        lag_ms = self.lag_ms

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "state": state,
                "started_at": started_at,
                "seen_at": seen_at,
            }
        )
        if version is not UNSET:
            field_dict["version"] = version
        if streams is not UNSET:
            field_dict["streams"] = streams
        if fleets is not UNSET:
            field_dict["fleets"] = fleets
        if seal_key is not UNSET:
            field_dict["seal_key"] = seal_key
        if lag_ms is not UNSET:
            field_dict["lag_ms"] = lag_ms

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        state = ServerState(d.pop("state"))

        started_at = datetime.datetime.fromisoformat(d.pop("started_at"))

        seen_at = datetime.datetime.fromisoformat(d.pop("seen_at"))

        version = d.pop("version", UNSET)

        streams = d.pop("streams", UNSET)

        fleets = d.pop("fleets", UNSET)

        seal_key = d.pop("seal_key", UNSET)

        lag_ms = d.pop("lag_ms", UNSET)

        server = cls(
            id=id,
            name=name,
            state=state,
            started_at=started_at,
            seen_at=seen_at,
            version=version,
            streams=streams,
            fleets=fleets,
            seal_key=seal_key,
            lag_ms=lag_ms,
        )

        server.additional_properties = d
        return server

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
