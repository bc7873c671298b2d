from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.role import Role
from ..types import UNSET, Unset

T = TypeVar("T", bound="TokenCreate")


@_attrs_define
class TokenCreate:
    """
    Example:
        {'name': 'deploy pipeline', 'role': 'ci', 'fleet': 'edge'}

    """

    name: str
    """ For people, at most 256 bytes. """
    role: Role
    """ What a token may do. `ci` writes to one fleet. """
    fleet: str | Unset = UNSET
    """ Binds the token to one fleet; needed for the role `ci`. """
    writes_secrets: bool | Unset = UNSET
    """ Lets a token of the role `ci` write secrets, which the other writing roles always may. """
    uses_secrets: list[str] | Unset = UNSET
    """ Of the roles `ci` and `editor`: the secrets that configuration which the token writes may use in whatever
    way, beside those that the role lets it use (TLS of listeners and
    clusters, where the secret's label `team` is that of the resource). Each is a name, the beginning of names and
    `*`, or a label of the secret as `key=value`.
     """
    expires_at: datetime.datetime | Unset = UNSET
    """ At most 366 days from now, 90 of the role `ci`, and no later than the token that makes it ends, unless it is
    `handed_over`. Where it is left out, 90 days
    from now, or when the maker ends if that is sooner: the answer says when.
     """
    handed_over: bool | Unset = UNSET
    """ For owners: the token does not end with the one that makes it. It may then have a later `expires_at`. """

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        role = self.role.value

        fleet = self.fleet

        writes_secrets = self.writes_secrets

        uses_secrets: list[str] | Unset = UNSET
        if not isinstance(self.uses_secrets, Unset):
            uses_secrets = self.uses_secrets

        expires_at: str | Unset = UNSET
        if not isinstance(self.expires_at, Unset):
            expires_at = self.expires_at.isoformat()

        handed_over = self.handed_over

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "role": role,
            }
        )
        if fleet is not UNSET:
            field_dict["fleet"] = fleet
        if writes_secrets is not UNSET:
            field_dict["writes_secrets"] = writes_secrets
        if uses_secrets is not UNSET:
            field_dict["uses_secrets"] = uses_secrets
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if handed_over is not UNSET:
            field_dict["handed_over"] = handed_over

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        role = Role(d.pop("role"))

        fleet = d.pop("fleet", UNSET)

        writes_secrets = d.pop("writes_secrets", UNSET)

        uses_secrets = cast(list[str], d.pop("uses_secrets", UNSET))

        _expires_at = d.pop("expires_at", UNSET)
        expires_at: datetime.datetime | Unset
        if isinstance(_expires_at, Unset):
            expires_at = UNSET
        else:
            expires_at = datetime.datetime.fromisoformat(_expires_at)

        handed_over = d.pop("handed_over", UNSET)

        token_create = cls(
            name=name,
            role=role,
            fleet=fleet,
            writes_secrets=writes_secrets,
            uses_secrets=uses_secrets,
            expires_at=expires_at,
            handed_over=handed_over,
        )

        return token_create
