from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="CredentialCreate")


@_attrs_define
class CredentialCreate:
    """
    Example:
        {'nodes': 'router-*', 'description': 'the routers'}

    """

    nodes: str
    """ The node ids that may use it: one id, a prefix with `*`, or `*` for all of the fleet. """
    description: str | Unset = UNSET
    """ For people, at most 4096 bytes. """
    expires_at: datetime.datetime | Unset = UNSET
    """ At most 366 days from now; 90 days where it is left out. """

    def to_dict(self) -> dict[str, Any]:
        nodes = self.nodes

        description = self.description

        expires_at: str | Unset = UNSET
        if not isinstance(self.expires_at, Unset):
            expires_at = self.expires_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "nodes": nodes,
            }
        )
        if description is not UNSET:
            field_dict["description"] = description
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        nodes = d.pop("nodes")

        description = d.pop("description", UNSET)

        _expires_at = d.pop("expires_at", UNSET)
        expires_at: datetime.datetime | Unset
        if isinstance(_expires_at, Unset):
            expires_at = UNSET
        else:
            expires_at = datetime.datetime.fromisoformat(_expires_at)

        credential_create = cls(
            nodes=nodes,
            description=description,
            expires_at=expires_at,
        )

        return credential_create
