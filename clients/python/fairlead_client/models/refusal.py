from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.action_code import ActionCode
from ..models.refusal_end import RefusalEnd
from ..models.resource_type import ResourceType
from ..types import UNSET, Unset

T = TypeVar("T", bound="Refusal")


@_attrs_define
class Refusal:
    type_: ResourceType
    """ The resource's type, by the name of its list. """
    name: str
    version: str
    """ The refused version. """
    revision: int
    """ The revision that brought it. """
    detail: str
    """ The client's own words. """
    at: datetime.datetime
    """ Since when. """
    action: str | Unset = UNSET
    """ What was done about it, for people. """
    action_code: ActionCode | Unset = UNSET
    """ What was done about a refusal; left out where `action` is of something else. `kept`: the last known good
    version stands in. `removed`: the node is left without it, as it never
    accepted any version. `frozen`: the node refuses so many resources of the type that this one is kept back from
    its present stream alone. Left alone are `unknown`: the version that the
    node has is not known; `lost`: the bytes of the last known good version are gone; `stand_in_refused`: the
    version that stood in was refused too. Nothing is done at
    `no_suspect`: no resource could be held responsible; `superseded`: another version is in force by now;
    `deleted`: the resource is gone by now.
     """
    stands_in: str | Unset = UNSET
    """ The version that the node has instead; left out where it has none, or what it has is not known. """
    lifted_by: str | Unset = UNSET
    """ What would end it, for people; left out where it has ended. """
    resolved_at: datetime.datetime | Unset = UNSET
    """ When it ended; left out while it stands. """
    ended: RefusalEnd | Unset = UNSET
    """ How a refusal ended; left out while it stands. `replaced`: a revision brought another version, or none.
    `taken`: the node has confirmed what it is to have. `offered`: the
    node was offered the refused version once more; where it refuses that again, there is a refusal that stands.
     """
    resolved_by: int | Unset = UNSET
    """ The revision that ended it, where `ended` is `replaced`. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_.value

        name = self.name

        version = self.version

        revision = self.revision

        detail = self.detail

        at = self.at.isoformat()

        action = self.action

        action_code: str | Unset = UNSET
        if not isinstance(self.action_code, Unset):
            action_code = self.action_code.value

        stands_in = self.stands_in

        lifted_by = self.lifted_by

        resolved_at: str | Unset = UNSET
        if not isinstance(self.resolved_at, Unset):
            resolved_at = self.resolved_at.isoformat()

        ended: str | Unset = UNSET
        if not isinstance(self.ended, Unset):
            ended = self.ended.value

        resolved_by = self.resolved_by

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "name": name,
                "version": version,
                "revision": revision,
                "detail": detail,
                "at": at,
            }
        )
        if action is not UNSET:
            field_dict["action"] = action
        if action_code is not UNSET:
            field_dict["action_code"] = action_code
        if stands_in is not UNSET:
            field_dict["stands_in"] = stands_in
        if lifted_by is not UNSET:
            field_dict["lifted_by"] = lifted_by
        if resolved_at is not UNSET:
            field_dict["resolved_at"] = resolved_at
        if ended is not UNSET:
            field_dict["ended"] = ended
        if resolved_by is not UNSET:
            field_dict["resolved_by"] = resolved_by

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        type_ = ResourceType(d.pop("type"))

        name = d.pop("name")

        version = d.pop("version")

        revision = d.pop("revision")

        detail = d.pop("detail")

        at = datetime.datetime.fromisoformat(d.pop("at"))

        action = d.pop("action", UNSET)

        _action_code = d.pop("action_code", UNSET)
        action_code: ActionCode | Unset
        if isinstance(_action_code, Unset):
            action_code = UNSET
        else:
            action_code = ActionCode(_action_code)

        stands_in = d.pop("stands_in", UNSET)

        lifted_by = d.pop("lifted_by", UNSET)

        _resolved_at = d.pop("resolved_at", UNSET)
        resolved_at: datetime.datetime | Unset
        if isinstance(_resolved_at, Unset):
            resolved_at = UNSET
        else:
            resolved_at = datetime.datetime.fromisoformat(_resolved_at)

        _ended = d.pop("ended", UNSET)
        ended: RefusalEnd | Unset
        if isinstance(_ended, Unset):
            ended = UNSET
        else:
            ended = RefusalEnd(_ended)

        resolved_by = d.pop("resolved_by", UNSET)

        refusal = cls(
            type_=type_,
            name=name,
            version=version,
            revision=revision,
            detail=detail,
            at=at,
            action=action,
            action_code=action_code,
            stands_in=stands_in,
            lifted_by=lifted_by,
            resolved_at=resolved_at,
            ended=ended,
            resolved_by=resolved_by,
        )

        refusal.additional_properties = d
        return refusal

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
