from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.action_code import ActionCode
from ..models.refusal_end import RefusalEnd
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.resource_ref import ResourceRef


T = TypeVar("T", bound="ReceiptRefusal")


@_attrs_define
class ReceiptRefusal:
    detail: str | Unset = UNSET
    """ The client's own words, their first 500 characters. """
    resource: ResourceRef | Unset = UNSET
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
    ended: RefusalEnd | Unset = UNSET
    """ How a refusal ended; left out while it stands. `replaced`: a revision brought another version, or none.
    `taken`: the node has confirmed what it is to have. `offered`: the
    node was offered the refused version once more; where it refuses that again, there is a refusal that stands.
     """
    resolved_by: int | Unset = UNSET
    """ The revision that ended the refusal, where `ended` is `replaced`. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        detail = self.detail

        resource: dict[str, Any] | Unset = UNSET
        if not isinstance(self.resource, Unset):
            resource = self.resource.to_dict()

        action = self.action

        action_code: str | Unset = UNSET
        if not isinstance(self.action_code, Unset):
            action_code = self.action_code.value

        ended: str | Unset = UNSET
        if not isinstance(self.ended, Unset):
            ended = self.ended.value

        resolved_by = self.resolved_by

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if detail is not UNSET:
            field_dict["detail"] = detail
        if resource is not UNSET:
            field_dict["resource"] = resource
        if action is not UNSET:
            field_dict["action"] = action
        if action_code is not UNSET:
            field_dict["action_code"] = action_code
        if ended is not UNSET:
            field_dict["ended"] = ended
        if resolved_by is not UNSET:
            field_dict["resolved_by"] = resolved_by

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.resource_ref import ResourceRef

        d = dict(src_dict)
        detail = d.pop("detail", UNSET)

        _resource = d.pop("resource", UNSET)
        resource: ResourceRef | Unset
        if isinstance(_resource, Unset):
            resource = UNSET
        else:
            resource = ResourceRef.from_dict(_resource)

        action = d.pop("action", UNSET)

        _action_code = d.pop("action_code", UNSET)
        action_code: ActionCode | Unset
        if isinstance(_action_code, Unset):
            action_code = UNSET
        else:
            action_code = ActionCode(_action_code)

        _ended = d.pop("ended", UNSET)
        ended: RefusalEnd | Unset
        if isinstance(_ended, Unset):
            ended = UNSET
        else:
            ended = RefusalEnd(_ended)

        resolved_by = d.pop("resolved_by", UNSET)

        receipt_refusal = cls(
            detail=detail,
            resource=resource,
            action=action,
            action_code=action_code,
            ended=ended,
            resolved_by=resolved_by,
        )

        receipt_refusal.additional_properties = d
        return receipt_refusal

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
