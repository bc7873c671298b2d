from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.role import Role
from ..models.whoami_kind import WhoamiKind
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.own_session import OwnSession


T = TypeVar("T", bound="Whoami")


@_attrs_define
class Whoami:
    kind: WhoamiKind
    id: str
    """ The token's id, as the list of tokens has it. """
    name: str
    """ The token's name. """
    tenant: str | Unset = UNSET
    """ The tenant's slug. Not of an operator. """
    role: Role | Unset = UNSET
    """ What a token may do. `ci` writes to one fleet. """
    fleet: str | Unset = UNSET
    """ The one fleet that the token is bound to. """
    uses_secrets: list[str] | Unset = UNSET
    """ Of the roles `ci` and `editor`: the secrets that configuration which the token writes may use in whatever
    way, beside those that the role lets it use (TLS of listeners and
    clusters, where the secret's label `team` is that of the resource). Each is a name, the beginning of names and
    `*`, or a label of the secret as `key=value`.
     """
    expires_at: datetime.datetime | Unset = UNSET
    """ When the token expires. """
    session: OwnSession | Unset = UNSET
    """ Of a caller that came with a session's cookie, that session. To ask for it is no use of it. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind.value

        id = self.id

        name = self.name

        tenant = self.tenant

        role: str | Unset = UNSET
        if not isinstance(self.role, Unset):
            role = self.role.value

        fleet = self.fleet

        uses_secrets: list[str] | Unset = UNSET
        if not isinstance(self.uses_secrets, Unset):
            uses_secrets = self.uses_secrets

        expires_at: str | Unset = UNSET
        if not isinstance(self.expires_at, Unset):
            expires_at = self.expires_at.isoformat()

        session: dict[str, Any] | Unset = UNSET
        if not isinstance(self.session, Unset):
            session = self.session.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "kind": kind,
                "id": id,
                "name": name,
            }
        )
        if tenant is not UNSET:
            field_dict["tenant"] = tenant
        if role is not UNSET:
            field_dict["role"] = role
        if fleet is not UNSET:
            field_dict["fleet"] = fleet
        if uses_secrets is not UNSET:
            field_dict["uses_secrets"] = uses_secrets
        if expires_at is not UNSET:
            field_dict["expires_at"] = expires_at
        if session is not UNSET:
            field_dict["session"] = session

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.own_session import OwnSession

        d = dict(src_dict)
        kind = WhoamiKind(d.pop("kind"))

        id = d.pop("id")

        name = d.pop("name")

        tenant = d.pop("tenant", UNSET)

        _role = d.pop("role", UNSET)
        role: Role | Unset
        if isinstance(_role, Unset):
            role = UNSET
        else:
            role = Role(_role)

        fleet = d.pop("fleet", UNSET)

        uses_secrets = cast(list[str], d.pop("uses_secrets", UNSET))

        _expires_at = d.pop("expires_at", UNSET)
        expires_at: datetime.datetime | Unset
        if isinstance(_expires_at, Unset):
            expires_at = UNSET
        else:
            expires_at = datetime.datetime.fromisoformat(_expires_at)

        _session = d.pop("session", UNSET)
        session: OwnSession | Unset
        if isinstance(_session, Unset):
            session = UNSET
        else:
            session = OwnSession.from_dict(_session)

        whoami = cls(
            kind=kind,
            id=id,
            name=name,
            tenant=tenant,
            role=role,
            fleet=fleet,
            uses_secrets=uses_secrets,
            expires_at=expires_at,
            session=session,
        )

        whoami.additional_properties = d
        return whoami

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
