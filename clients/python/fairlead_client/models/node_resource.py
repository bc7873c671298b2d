from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.action_code import ActionCode
from ..models.node_resource_state import NodeResourceState
from ..models.resource_type import ResourceType
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.resource_ref import ResourceRef
    from ..models.secret_summary import SecretSummary


T = TypeVar("T", bound="NodeResource")


@_attrs_define
class NodeResource:
    """One resource of the fleet as it is for one node."""

    type_: ResourceType
    """ The resource's type, by the name of its list. """
    name: str
    state: NodeResourceState
    """ `synced`: the node has confirmed the revision that brought it, as far as it asks for it. `pending`: it has
    not yet, or the resource is withheld from it (`waits` of the node). `refused`: it refused the
    fleet's version, and another one stands in where there is one. `absent`: it refused every version that it was
    ever sent, and holds none. `unreferenced`: nothing in the fleet names
    it, and clients ask for resources of its type by name (of clusters: this node does): it has it only if its own
    bootstrap asks. `not_subscribed`: the node does not ask for it, so it was not sent
    it: it asks for nothing of the type, or for other listeners, or something in the fleet names it but nothing that
    this node has. `on_demand`: it is delivered by name alone, and the node
    asks for all clusters: it has it if it has asked for it by its name, which is not told. `unmatched`: no variant
    of it matches the node (only told when asked why).
     """
    variant: str | Unset = UNSET
    """ The variant that the node's labels choose; left out for the default variant. """
    version: str | Unset = UNSET
    """ The version in force for this node: the fleet's (of its variant), or the one that stands in for it. Left out
    where it is absent, and where a version was refused
    and nothing was sent in its place: what the node runs is then not known.
     """
    revision: int | Unset = UNSET
    """ The revision that brought the version in force; left out where that is not kept any more. """
    refused_version: str | Unset = UNSET
    """ The fleet's version, which the node refused. """
    refused_revision: int | Unset = UNSET
    """ The revision that brought the refused version. """
    detail: str | Unset = UNSET
    """ The client's own words about the refused version. """
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
    since: datetime.datetime | Unset = UNSET
    """ When it was refused. """
    keeps: list[ResourceRef] | Unset = UNSET
    """ What the fleet has deleted and this node keeps all the same, because the version in force names it. """
    ttl: str | Unset = UNSET
    """ Of the version in force. """
    ttl_sent: bool | Unset = UNSET
    """ Whether this node is sent the TTL. Left out where that depends on what the client declares, which is not
    kept. """
    ttl_detail: str | Unset = UNSET
    """ Why it is sent or not, or what it depends on; for people. """
    body: Any | Unset = UNSET
    """ Envoy's own message as proto3 JSON, with the field names of the proto files. `[redacted]` stands in the
    place of a key, a password or a token, which a
    resource may hold that was written before they were refused, and of what else Envoy marks as sensitive.
     """
    secret: SecretSummary | Unset = UNSET
    """ What is told of a secret, in place of its body. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_.value

        name = self.name

        state = self.state.value

        variant = self.variant

        version = self.version

        revision = self.revision

        refused_version = self.refused_version

        refused_revision = self.refused_revision

        detail = self.detail

        action = self.action

        action_code: str | Unset = UNSET
        if not isinstance(self.action_code, Unset):
            action_code = self.action_code.value

        since: str | Unset = UNSET
        if not isinstance(self.since, Unset):
            since = self.since.isoformat()

        keeps: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.keeps, Unset):
            keeps = []
            for keeps_item_data in self.keeps:
                keeps_item = keeps_item_data.to_dict()
                keeps.append(keeps_item)

        ttl = self.ttl

        ttl_sent = self.ttl_sent

        ttl_detail = self.ttl_detail

        body = self.body

        secret: dict[str, Any] | Unset = UNSET
        if not isinstance(self.secret, Unset):
            secret = self.secret.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "name": name,
                "state": state,
            }
        )
        if variant is not UNSET:
            field_dict["variant"] = variant
        if version is not UNSET:
            field_dict["version"] = version
        if revision is not UNSET:
            field_dict["revision"] = revision
        if refused_version is not UNSET:
            field_dict["refused_version"] = refused_version
        if refused_revision is not UNSET:
            field_dict["refused_revision"] = refused_revision
        if detail is not UNSET:
            field_dict["detail"] = detail
        if action is not UNSET:
            field_dict["action"] = action
        if action_code is not UNSET:
            field_dict["action_code"] = action_code
        if since is not UNSET:
            field_dict["since"] = since
        if keeps is not UNSET:
            field_dict["keeps"] = keeps
        if ttl is not UNSET:
            field_dict["ttl"] = ttl
        if ttl_sent is not UNSET:
            field_dict["ttl_sent"] = ttl_sent
        if ttl_detail is not UNSET:
            field_dict["ttl_detail"] = ttl_detail
        if body is not UNSET:
            field_dict["body"] = body
        if secret is not UNSET:
            field_dict["secret"] = secret

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.resource_ref import ResourceRef
        from ..models.secret_summary import SecretSummary

        d = dict(src_dict)
        type_ = ResourceType(d.pop("type"))

        name = d.pop("name")

        state = NodeResourceState(d.pop("state"))

        variant = d.pop("variant", UNSET)

        version = d.pop("version", UNSET)

        revision = d.pop("revision", UNSET)

        refused_version = d.pop("refused_version", UNSET)

        refused_revision = d.pop("refused_revision", UNSET)

        detail = d.pop("detail", UNSET)

        action = d.pop("action", UNSET)

        _action_code = d.pop("action_code", UNSET)
        action_code: ActionCode | Unset
        if isinstance(_action_code, Unset):
            action_code = UNSET
        else:
            action_code = ActionCode(_action_code)

        _since = d.pop("since", UNSET)
        since: datetime.datetime | Unset
        if isinstance(_since, Unset):
            since = UNSET
        else:
            since = datetime.datetime.fromisoformat(_since)

        _keeps = d.pop("keeps", UNSET)
        keeps: list[ResourceRef] | Unset = UNSET
        if _keeps is not UNSET:
            keeps = []
            for keeps_item_data in _keeps:
                keeps_item = ResourceRef.from_dict(keeps_item_data)

                keeps.append(keeps_item)

        ttl = d.pop("ttl", UNSET)

        ttl_sent = d.pop("ttl_sent", UNSET)

        ttl_detail = d.pop("ttl_detail", UNSET)

        body = d.pop("body", UNSET)

        _secret = d.pop("secret", UNSET)
        secret: SecretSummary | Unset
        if isinstance(_secret, Unset):
            secret = UNSET
        else:
            secret = SecretSummary.from_dict(_secret)

        node_resource = cls(
            type_=type_,
            name=name,
            state=state,
            variant=variant,
            version=version,
            revision=revision,
            refused_version=refused_version,
            refused_revision=refused_revision,
            detail=detail,
            action=action,
            action_code=action_code,
            since=since,
            keeps=keeps,
            ttl=ttl,
            ttl_sent=ttl_sent,
            ttl_detail=ttl_detail,
            body=body,
            secret=secret,
        )

        node_resource.additional_properties = d
        return node_resource

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
