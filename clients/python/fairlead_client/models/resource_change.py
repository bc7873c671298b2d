from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.plan_action import PlanAction
from ..types import UNSET, Unset

T = TypeVar("T", bound="ResourceChange")


@_attrs_define
class ResourceChange:
    revision: int
    action: PlanAction
    """ What would become of a resource. """
    at: datetime.datetime
    actor: str | Unset = UNSET
    kind: str | Unset = UNSET
    """ What was asked for; left out where the revision itself is forgotten. """
    message: str | Unset = UNSET
    changed: int | Unset = UNSET
    """ How many resources the revision changed. """
    version: str | Unset = UNSET
    """ The hash of the content; left out of a deletion. """
    etag: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        revision = self.revision

        action = self.action.value

        at = self.at.isoformat()

        actor = self.actor

        kind = self.kind

        message = self.message

        changed = self.changed

        version = self.version

        etag = self.etag

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "revision": revision,
                "action": action,
                "at": at,
            }
        )
        if actor is not UNSET:
            field_dict["actor"] = actor
        if kind is not UNSET:
            field_dict["kind"] = kind
        if message is not UNSET:
            field_dict["message"] = message
        if changed is not UNSET:
            field_dict["changed"] = changed
        if version is not UNSET:
            field_dict["version"] = version
        if etag is not UNSET:
            field_dict["etag"] = etag

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        revision = d.pop("revision")

        action = PlanAction(d.pop("action"))

        at = datetime.datetime.fromisoformat(d.pop("at"))

        actor = d.pop("actor", UNSET)

        kind = d.pop("kind", UNSET)

        message = d.pop("message", UNSET)

        changed = d.pop("changed", UNSET)

        version = d.pop("version", UNSET)

        etag = d.pop("etag", UNSET)

        resource_change = cls(
            revision=revision,
            action=action,
            at=at,
            actor=actor,
            kind=kind,
            message=message,
            changed=changed,
            version=version,
            etag=etag,
        )

        resource_change.additional_properties = d
        return resource_change

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
