from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="SecretSummary")


@_attrs_define
class SecretSummary:
    """What is told of a secret, in place of its body."""

    kind: str
    subject: str | Unset = UNSET
    sans: list[str] | Unset = UNSET
    not_after: datetime.datetime | Unset = UNSET
    fingerprint: str | Unset = UNSET
    """ Of a certificate that stands in the secret, its SHA-256 in hex; left out of all else. """
    sealed_for: str | Unset = UNSET
    """ The id of the key that it is sealed with: the xDS servers that have another one cannot open it. Left out of
    what was written before this was noted. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        kind = self.kind

        subject = self.subject

        sans: list[str] | Unset = UNSET
        if not isinstance(self.sans, Unset):
            sans = self.sans

        not_after: str | Unset = UNSET
        if not isinstance(self.not_after, Unset):
            not_after = self.not_after.isoformat()

        fingerprint = self.fingerprint

        sealed_for = self.sealed_for

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "kind": kind,
            }
        )
        if subject is not UNSET:
            field_dict["subject"] = subject
        if sans is not UNSET:
            field_dict["sans"] = sans
        if not_after is not UNSET:
            field_dict["not_after"] = not_after
        if fingerprint is not UNSET:
            field_dict["fingerprint"] = fingerprint
        if sealed_for is not UNSET:
            field_dict["sealed_for"] = sealed_for

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        kind = d.pop("kind")

        subject = d.pop("subject", UNSET)

        sans = cast(list[str], d.pop("sans", UNSET))

        _not_after = d.pop("not_after", UNSET)
        not_after: datetime.datetime | Unset
        if isinstance(_not_after, Unset):
            not_after = UNSET
        else:
            not_after = datetime.datetime.fromisoformat(_not_after)

        fingerprint = d.pop("fingerprint", UNSET)

        sealed_for = d.pop("sealed_for", UNSET)

        secret_summary = cls(
            kind=kind,
            subject=subject,
            sans=sans,
            not_after=not_after,
            fingerprint=fingerprint,
            sealed_for=sealed_for,
        )

        secret_summary.additional_properties = d
        return secret_summary

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
