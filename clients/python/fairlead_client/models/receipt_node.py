from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.action_code import ActionCode
from ..models.receipt_node_state import ReceiptNodeState
from ..models.refusal_end import RefusalEnd
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.receipt_refusal import ReceiptRefusal
    from ..models.resource_ref import ResourceRef
    from ..models.withheld import Withheld


T = TypeVar("T", bound="ReceiptNode")


@_attrs_define
class ReceiptNode:
    id: str
    state: ReceiptNodeState
    at: datetime.datetime | Unset = UNSET
    detail: str | Unset = UNSET
    """ The client's own words. """
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
    also_refused: list[ReceiptRefusal] | Unset = UNSET
    """ Of a node that refused several resources of the revision: those beside `resource`, ten of them at most. The
    worst come first: what it still refuses, and of that what nothing stands in for. """
    more_refused: int | Unset = UNSET
    """ How many are left out of `also_refused`; the node's page has them. """
    still_refusing: list[ResourceRef] | Unset = UNSET
    """ What the node refuses at present, of any revision. """
    warming: list[ResourceRef] | Unset = UNSET
    """ Of a pending node: what it was sent and has not answered. Something that it needs is still open, or the node
    is stuck. """
    withheld: list[Withheld] | Unset = UNSET
    """ Of a pending node: what of the revision is kept from it at its last known good version, or away, and what
    each waits for. """
    withheld_by: list[ResourceRef] | Unset = UNSET
    """ What `withheld` waits for, each once. """
    left: bool | Unset = UNSET
    """ Of an offline node: it is one of `counts.left`. """
    no_envoy: bool | Unset = UNSET
    """ Of a pending node: `fairlead sync --listen-admin` writes its files, and no Envoy serves there. Nothing is
    confirmed until one does. """
    more_waits: int | Unset = UNSET
    """ How many are left out of `warming` and `withheld`, which name twenty each, or one of each revision where
    these are more. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        state = self.state.value

        at: str | Unset = UNSET
        if not isinstance(self.at, Unset):
            at = self.at.isoformat()

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

        also_refused: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.also_refused, Unset):
            also_refused = []
            for also_refused_item_data in self.also_refused:
                also_refused_item = also_refused_item_data.to_dict()
                also_refused.append(also_refused_item)

        more_refused = self.more_refused

        still_refusing: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.still_refusing, Unset):
            still_refusing = []
            for still_refusing_item_data in self.still_refusing:
                still_refusing_item = still_refusing_item_data.to_dict()
                still_refusing.append(still_refusing_item)

        warming: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.warming, Unset):
            warming = []
            for warming_item_data in self.warming:
                warming_item = warming_item_data.to_dict()
                warming.append(warming_item)

        withheld: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.withheld, Unset):
            withheld = []
            for withheld_item_data in self.withheld:
                withheld_item = withheld_item_data.to_dict()
                withheld.append(withheld_item)

        withheld_by: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.withheld_by, Unset):
            withheld_by = []
            for withheld_by_item_data in self.withheld_by:
                withheld_by_item = withheld_by_item_data.to_dict()
                withheld_by.append(withheld_by_item)

        left = self.left

        no_envoy = self.no_envoy

        more_waits = self.more_waits

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "state": state,
            }
        )
        if at is not UNSET:
            field_dict["at"] = at
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
        if also_refused is not UNSET:
            field_dict["also_refused"] = also_refused
        if more_refused is not UNSET:
            field_dict["more_refused"] = more_refused
        if still_refusing is not UNSET:
            field_dict["still_refusing"] = still_refusing
        if warming is not UNSET:
            field_dict["warming"] = warming
        if withheld is not UNSET:
            field_dict["withheld"] = withheld
        if withheld_by is not UNSET:
            field_dict["withheld_by"] = withheld_by
        if left is not UNSET:
            field_dict["left"] = left
        if no_envoy is not UNSET:
            field_dict["no_envoy"] = no_envoy
        if more_waits is not UNSET:
            field_dict["more_waits"] = more_waits

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.receipt_refusal import ReceiptRefusal
        from ..models.resource_ref import ResourceRef
        from ..models.withheld import Withheld

        d = dict(src_dict)
        id = d.pop("id")

        state = ReceiptNodeState(d.pop("state"))

        _at = d.pop("at", UNSET)
        at: datetime.datetime | Unset
        if isinstance(_at, Unset):
            at = UNSET
        else:
            at = datetime.datetime.fromisoformat(_at)

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

        _also_refused = d.pop("also_refused", UNSET)
        also_refused: list[ReceiptRefusal] | Unset = UNSET
        if _also_refused is not UNSET:
            also_refused = []
            for also_refused_item_data in _also_refused:
                also_refused_item = ReceiptRefusal.from_dict(also_refused_item_data)

                also_refused.append(also_refused_item)

        more_refused = d.pop("more_refused", UNSET)

        _still_refusing = d.pop("still_refusing", UNSET)
        still_refusing: list[ResourceRef] | Unset = UNSET
        if _still_refusing is not UNSET:
            still_refusing = []
            for still_refusing_item_data in _still_refusing:
                still_refusing_item = ResourceRef.from_dict(still_refusing_item_data)

                still_refusing.append(still_refusing_item)

        _warming = d.pop("warming", UNSET)
        warming: list[ResourceRef] | Unset = UNSET
        if _warming is not UNSET:
            warming = []
            for warming_item_data in _warming:
                warming_item = ResourceRef.from_dict(warming_item_data)

                warming.append(warming_item)

        _withheld = d.pop("withheld", UNSET)
        withheld: list[Withheld] | Unset = UNSET
        if _withheld is not UNSET:
            withheld = []
            for withheld_item_data in _withheld:
                withheld_item = Withheld.from_dict(withheld_item_data)

                withheld.append(withheld_item)

        _withheld_by = d.pop("withheld_by", UNSET)
        withheld_by: list[ResourceRef] | Unset = UNSET
        if _withheld_by is not UNSET:
            withheld_by = []
            for withheld_by_item_data in _withheld_by:
                withheld_by_item = ResourceRef.from_dict(withheld_by_item_data)

                withheld_by.append(withheld_by_item)

        left = d.pop("left", UNSET)

        no_envoy = d.pop("no_envoy", UNSET)

        more_waits = d.pop("more_waits", UNSET)

        receipt_node = cls(
            id=id,
            state=state,
            at=at,
            detail=detail,
            resource=resource,
            action=action,
            action_code=action_code,
            ended=ended,
            resolved_by=resolved_by,
            also_refused=also_refused,
            more_refused=more_refused,
            still_refusing=still_refusing,
            warming=warming,
            withheld=withheld,
            withheld_by=withheld_by,
            left=left,
            no_envoy=no_envoy,
            more_waits=more_waits,
        )

        receipt_node.additional_properties = d
        return receipt_node

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
