from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.action_code import ActionCode
from ..models.denied_reason import DeniedReason
from ..models.event_kind import EventKind
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.resource_ref import ResourceRef


T = TypeVar("T", bound="Event")


@_attrs_define
class Event:
    at: datetime.datetime
    """ Of a group, when the last one happened. """
    kind: EventKind
    """ `refused`: the node refused the resource. `kept_back`: something stands in for what it refused, or it was
    left without. `recovered`: the refusal
    has ended: another version is in force, or the node has what it is to have. `offered`: the node is offered the
    refused version once more, after a retry, as another process, or
    because what it could not be beside has changed, or a cluster that it names has come; it may refuse it again.
    `duplicates`: several clients have this node id. `dropped`: the fleet is at a
    limit, and older events or refusals were dropped, or the database refused a row of what a node said; told once
    an hour at most. `denied`: clients were not let in, or not given what they asked for,
    for one `reason`; the same again is the same event with more `attempts` and a newer time, and comes again to who
    follows. `withheld`: the same of clients that were let in and from which a resource
    is kept, for one of the reasons `withheld_*`.
     """
    node: str
    """ The node's id, of `denied` what the client says; empty where it is about none, or where a client was not
    asked. """
    id: str | Unset = UNSET
    """ Its place among the fleet's events, for `after` and `Last-Event-ID`. Not of a group. """
    reason: DeniedReason | Unset = UNSET
    """ Why clients were not let in, or not given what they asked for. `token_wrong`: the token has the id of a node
    credential of this fleet and another secret. `token_revoked`, `token_expired`: the credential has
    ended. `node_id_forbidden`: the credential is not for nodes of this id. `node_id_taken`: another client has the
    id, and `node_ids` of the fleet is exclusive.
    `routed`: the call has headers that a proxy on its way adds, and speaks as the proxy whose credential it carries
    (see docs/servers.md).
    Of a client that was let in: `type_not_served`: it asks for a type of resource that is not served, gets no
    answer, and keeps its stream.
    `names_over_limit`: it asks for names that no resource can have, or for too many, is told that these do not
    exist, and keeps its stream.
    `request_refused`: its stream was ended, or did not begin, for what it asks. `action` says what that was.
    `withheld_missing`, `withheld_refused`, `withheld_sealed`, `withheld_too_large`: for a second or longer a
    resource is kept from it, for the `reason` of that name in `Withheld`. `action` says which
    resource, and what that waits for.
     """
    attempts: int | Unset = UNSET
    """ Of `denied`, how often; of a group, of all. """
    address: str | Unset = UNSET
    """ Of `denied`, where the clients come from; of a group, the last one. Left out where there are too many to
    tell apart. """
    credential: str | Unset = UNSET
    """ Of `denied`, the id of the node credential that they come with. """
    resource: ResourceRef | Unset = UNSET
    version: str | Unset = UNSET
    """ The refused version. """
    revision: int | Unset = UNSET
    """ The revision that brought the refused version; of `recovered` the one that ended it, left out where none
    did. """
    detail: str | Unset = UNSET
    """ The client's own words. """
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
    nodes: int | Unset = UNSET
    """ Of a group, how many nodes say it; `node` is the last one of them. """
    node_ids: list[str] | Unset = UNSET
    """ Of a group, ten of them at most. """
    first_at: datetime.datetime | Unset = UNSET
    """ Of a group, and of `denied` and `withheld`, when the first one happened. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        kind = self.kind.value

        node = self.node

        id = self.id

        reason: str | Unset = UNSET
        if not isinstance(self.reason, Unset):
            reason = self.reason.value

        attempts = self.attempts

        address = self.address

        credential = self.credential

        resource: dict[str, Any] | Unset = UNSET
        if not isinstance(self.resource, Unset):
            resource = self.resource.to_dict()

        version = self.version

        revision = self.revision

        detail = self.detail

        action = self.action

        action_code: str | Unset = UNSET
        if not isinstance(self.action_code, Unset):
            action_code = self.action_code.value

        nodes = self.nodes

        node_ids: list[str] | Unset = UNSET
        if not isinstance(self.node_ids, Unset):
            node_ids = self.node_ids

        first_at: str | Unset = UNSET
        if not isinstance(self.first_at, Unset):
            first_at = self.first_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "kind": kind,
                "node": node,
            }
        )
        if id is not UNSET:
            field_dict["id"] = id
        if reason is not UNSET:
            field_dict["reason"] = reason
        if attempts is not UNSET:
            field_dict["attempts"] = attempts
        if address is not UNSET:
            field_dict["address"] = address
        if credential is not UNSET:
            field_dict["credential"] = credential
        if resource is not UNSET:
            field_dict["resource"] = resource
        if version is not UNSET:
            field_dict["version"] = version
        if revision is not UNSET:
            field_dict["revision"] = revision
        if detail is not UNSET:
            field_dict["detail"] = detail
        if action is not UNSET:
            field_dict["action"] = action
        if action_code is not UNSET:
            field_dict["action_code"] = action_code
        if nodes is not UNSET:
            field_dict["nodes"] = nodes
        if node_ids is not UNSET:
            field_dict["node_ids"] = node_ids
        if first_at is not UNSET:
            field_dict["first_at"] = first_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.resource_ref import ResourceRef

        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        kind = EventKind(d.pop("kind"))

        node = d.pop("node")

        id = d.pop("id", UNSET)

        _reason = d.pop("reason", UNSET)
        reason: DeniedReason | Unset
        if isinstance(_reason, Unset):
            reason = UNSET
        else:
            reason = DeniedReason(_reason)

        attempts = d.pop("attempts", UNSET)

        address = d.pop("address", UNSET)

        credential = d.pop("credential", UNSET)

        _resource = d.pop("resource", UNSET)
        resource: ResourceRef | Unset
        if isinstance(_resource, Unset):
            resource = UNSET
        else:
            resource = ResourceRef.from_dict(_resource)

        version = d.pop("version", UNSET)

        revision = d.pop("revision", UNSET)

        detail = d.pop("detail", UNSET)

        action = d.pop("action", UNSET)

        _action_code = d.pop("action_code", UNSET)
        action_code: ActionCode | Unset
        if isinstance(_action_code, Unset):
            action_code = UNSET
        else:
            action_code = ActionCode(_action_code)

        nodes = d.pop("nodes", UNSET)

        node_ids = cast(list[str], d.pop("node_ids", UNSET))

        _first_at = d.pop("first_at", UNSET)
        first_at: datetime.datetime | Unset
        if isinstance(_first_at, Unset):
            first_at = UNSET
        else:
            first_at = datetime.datetime.fromisoformat(_first_at)

        event = cls(
            at=at,
            kind=kind,
            node=node,
            id=id,
            reason=reason,
            attempts=attempts,
            address=address,
            credential=credential,
            resource=resource,
            version=version,
            revision=revision,
            detail=detail,
            action=action,
            action_code=action_code,
            nodes=nodes,
            node_ids=node_ids,
            first_at=first_at,
        )

        event.additional_properties = d
        return event

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
