from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.limit_name import LimitName
from ..models.limit_scope import LimitScope
from ..types import UNSET, Unset

T = TypeVar("T", bound="Limit")


@_attrs_define
class Limit:
    what: LimitName
    """ Of the tenant: `fleets`, `deleted_fleets` (whose data is still kept), `tokens` (neither revoked nor
    expired), `audit_days` (for how many days the events of its audit are
    kept, 30 to 36500), `audit_bytes` (what they come to; at the limit nothing is written, at twice the limit
    nothing is deleted and nobody signs in), `idempotency_bytes` (of
    the answers that are kept for repeats; the oldest are dropped, and at twice the limit requests with an
    `Idempotency-Key` are refused until then).
    Of each fleet: `credentials` (neither revoked nor expired), `resources` (variants count), `fleet_bytes` (bodies,
    names, variants, selectors,
    labels and descriptions; a body that two resources share counts twice), `history_bytes` (the same of all kept
    revisions, and 256 for each resource that
    a revision changed; the oldest are dropped, and at twice the limit writes are refused until then), `event_bytes`
    and `refusal_bytes` (the oldest are dropped, which is an event).
    Of the tenant, and of each token, in one API server: `waiting_polls`, `writes_per_minute` and
    `reads_per_minute`, `token_...`.
     """
    of: LimitScope
    """ Whose it is. """
    limit: int
    default: int
    """ What it is where the operator sets nothing else. """
    overridden: bool
    """ The operator has set it. """
    used: int | Unset = UNSET
    """ Of a limit of a token: the caller's. Of polls and rates: in the API server that answers. Of a limit of a
    fleet in a tenant's usage: of the fleet
    that uses the most of it, where that is counted.
     """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        what = self.what.value

        of = self.of.value

        limit = self.limit

        default = self.default

        overridden = self.overridden

        used = self.used

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "what": what,
                "of": of,
                "limit": limit,
                "default": default,
                "overridden": overridden,
            }
        )
        if used is not UNSET:
            field_dict["used"] = used

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        what = LimitName(d.pop("what"))

        of = LimitScope(d.pop("of"))

        limit = d.pop("limit")

        default = d.pop("default")

        overridden = d.pop("overridden")

        used = d.pop("used", UNSET)

        limit = cls(
            what=what,
            of=of,
            limit=limit,
            default=default,
            overridden=overridden,
            used=used,
        )

        limit.additional_properties = d
        return limit

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
