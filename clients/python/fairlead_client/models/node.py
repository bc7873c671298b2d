from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.node_state import NodeState
from ..models.resource_type import ResourceType
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.node_labels import NodeLabels
    from ..models.node_subscription import NodeSubscription
    from ..models.refusal import Refusal
    from ..models.waits import Waits


T = TypeVar("T", bound="Node")


@_attrs_define
class Node:
    id: str
    state: NodeState
    """ `refusing`: live, and at least one resource stands refused. """
    settled: int
    """ The newest revision that it has answered whole: it runs it, but for what it refuses and what is withheld
    from it; 0 for none yet. """
    first_seen: datetime.datetime
    last_seen: datetime.datetime
    refusals: list[Refusal]
    """ What it refuses; of a single node its last hundred refusals, those that have ended too. """
    server: str | Unset = UNSET
    """ The xDS server that it is or was last connected to. """
    streams: int | Unset = UNSET
    duplicates: int | Unset = UNSET
    """ How many clients have this id: on several servers, or on one for half a minute. Left out for one. A revision
    is acked when all of them have it. """
    connections: int | Unset = UNSET
    """ How many servers it is connected to; more than one is a node id that is used twice. """
    frozen: list[ResourceType] | Unset = UNSET
    """ Types of which it refuses more than a thousand resources: what is over is kept back from its present stream
    alone, and offered again on the next one. """
    credential: str | Unset = UNSET
    """ The id of the node credential that it came with. """
    credential_expires_at: datetime.datetime | Unset = UNSET
    """ When that expires, or has expired: then the node is not let in with it. Left out where it does not expire,
    or is not known any more. """
    cluster: str | Unset = UNSET
    """ What the client says of itself, like the next two. """
    user_agent: str | Unset = UNSET
    version: str | Unset = UNSET
    protocol: str | Unset = UNSET
    remote_addr: str | Unset = UNSET
    since: datetime.datetime | Unset = UNSET
    """ Start of the present connection, or its end. """
    waits: Waits | Unset = UNSET
    """ What a connected node that is behind waits for; left out where it waits for nothing. """
    labels: NodeLabels | Unset = UNSET
    """ What selectors ask of a node, as it said when it connected last. """
    labels_unknown: bool | Unset = UNSET
    """ Not all of its labels are known; left out where they are, and in lists. """
    old_bootstrap: bool | Unset = UNSET
    """ It is an Envoy whose bootstrap does not say that it keeps the node's credential from what is routed; see
    docs/findings.md. Left out where it does, and in lists. """
    subscribes: list[NodeSubscription] | Unset = UNSET
    """ What it subscribes to of clusters, listeners and runtimes, as it was ten seconds ago; one of these that is
    not named it does not ask for. What else a client asks for is what something that it has names. Left out of a
    node that is not connected, and for some seconds of one that has just come. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        state = self.state.value

        settled = self.settled

        first_seen = self.first_seen.isoformat()

        last_seen = self.last_seen.isoformat()

        refusals = []
        for refusals_item_data in self.refusals:
            refusals_item = refusals_item_data.to_dict()
            refusals.append(refusals_item)

        server = self.server

        streams = self.streams

        duplicates = self.duplicates

        connections = self.connections

        frozen: list[str] | Unset = UNSET
        if not isinstance(self.frozen, Unset):
            frozen = []
            for frozen_item_data in self.frozen:
                frozen_item = frozen_item_data.value
                frozen.append(frozen_item)

        credential = self.credential

        credential_expires_at: str | Unset = UNSET
        if not isinstance(self.credential_expires_at, Unset):
            credential_expires_at = self.credential_expires_at.isoformat()

        cluster = self.cluster

        user_agent = self.user_agent

        version = self.version

        protocol = self.protocol

        remote_addr = self.remote_addr

        since: str | Unset = UNSET
        if not isinstance(self.since, Unset):
            since = self.since.isoformat()

        waits: dict[str, Any] | Unset = UNSET
        if not isinstance(self.waits, Unset):
            waits = self.waits.to_dict()

        labels: dict[str, Any] | Unset = UNSET
        if not isinstance(self.labels, Unset):
            labels = self.labels.to_dict()

        labels_unknown = self.labels_unknown

        old_bootstrap = self.old_bootstrap

        subscribes: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.subscribes, Unset):
            subscribes = []
            for subscribes_item_data in self.subscribes:
                subscribes_item = subscribes_item_data.to_dict()
                subscribes.append(subscribes_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "state": state,
                "settled": settled,
                "first_seen": first_seen,
                "last_seen": last_seen,
                "refusals": refusals,
            }
        )
        if server is not UNSET:
            field_dict["server"] = server
        if streams is not UNSET:
            field_dict["streams"] = streams
        if duplicates is not UNSET:
            field_dict["duplicates"] = duplicates
        if connections is not UNSET:
            field_dict["connections"] = connections
        if frozen is not UNSET:
            field_dict["frozen"] = frozen
        if credential is not UNSET:
            field_dict["credential"] = credential
        if credential_expires_at is not UNSET:
            field_dict["credential_expires_at"] = credential_expires_at
        if cluster is not UNSET:
            field_dict["cluster"] = cluster
        if user_agent is not UNSET:
            field_dict["user_agent"] = user_agent
        if version is not UNSET:
            field_dict["version"] = version
        if protocol is not UNSET:
            field_dict["protocol"] = protocol
        if remote_addr is not UNSET:
            field_dict["remote_addr"] = remote_addr
        if since is not UNSET:
            field_dict["since"] = since
        if waits is not UNSET:
            field_dict["waits"] = waits
        if labels is not UNSET:
            field_dict["labels"] = labels
        if labels_unknown is not UNSET:
            field_dict["labels_unknown"] = labels_unknown
        if old_bootstrap is not UNSET:
            field_dict["old_bootstrap"] = old_bootstrap
        if subscribes is not UNSET:
            field_dict["subscribes"] = subscribes

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.node_labels import NodeLabels
        from ..models.node_subscription import NodeSubscription
        from ..models.refusal import Refusal
        from ..models.waits import Waits

        d = dict(src_dict)
        id = d.pop("id")

        state = NodeState(d.pop("state"))

        settled = d.pop("settled")

        first_seen = datetime.datetime.fromisoformat(d.pop("first_seen"))

        last_seen = datetime.datetime.fromisoformat(d.pop("last_seen"))

        refusals = []
        _refusals = d.pop("refusals")
        for refusals_item_data in _refusals:
            refusals_item = Refusal.from_dict(refusals_item_data)

            refusals.append(refusals_item)

        server = d.pop("server", UNSET)

        streams = d.pop("streams", UNSET)

        duplicates = d.pop("duplicates", UNSET)

        connections = d.pop("connections", UNSET)

        _frozen = d.pop("frozen", UNSET)
        frozen: list[ResourceType] | Unset = UNSET
        if _frozen is not UNSET:
            frozen = []
            for frozen_item_data in _frozen:
                frozen_item = ResourceType(frozen_item_data)

                frozen.append(frozen_item)

        credential = d.pop("credential", UNSET)

        _credential_expires_at = d.pop("credential_expires_at", UNSET)
        credential_expires_at: datetime.datetime | Unset
        if isinstance(_credential_expires_at, Unset):
            credential_expires_at = UNSET
        else:
            credential_expires_at = datetime.datetime.fromisoformat(
                _credential_expires_at
            )

        cluster = d.pop("cluster", UNSET)

        user_agent = d.pop("user_agent", UNSET)

        version = d.pop("version", UNSET)

        protocol = d.pop("protocol", UNSET)

        remote_addr = d.pop("remote_addr", UNSET)

        _since = d.pop("since", UNSET)
        since: datetime.datetime | Unset
        if isinstance(_since, Unset):
            since = UNSET
        else:
            since = datetime.datetime.fromisoformat(_since)

        _waits = d.pop("waits", UNSET)
        waits: Waits | Unset
        if isinstance(_waits, Unset):
            waits = UNSET
        else:
            waits = Waits.from_dict(_waits)

        _labels = d.pop("labels", UNSET)
        labels: NodeLabels | Unset
        if isinstance(_labels, Unset):
            labels = UNSET
        else:
            labels = NodeLabels.from_dict(_labels)

        labels_unknown = d.pop("labels_unknown", UNSET)

        old_bootstrap = d.pop("old_bootstrap", UNSET)

        _subscribes = d.pop("subscribes", UNSET)
        subscribes: list[NodeSubscription] | Unset = UNSET
        if _subscribes is not UNSET:
            subscribes = []
            for subscribes_item_data in _subscribes:
                subscribes_item = NodeSubscription.from_dict(subscribes_item_data)

                subscribes.append(subscribes_item)

        node = cls(
            id=id,
            state=state,
            settled=settled,
            first_seen=first_seen,
            last_seen=last_seen,
            refusals=refusals,
            server=server,
            streams=streams,
            duplicates=duplicates,
            connections=connections,
            frozen=frozen,
            credential=credential,
            credential_expires_at=credential_expires_at,
            cluster=cluster,
            user_agent=user_agent,
            version=version,
            protocol=protocol,
            remote_addr=remote_addr,
            since=since,
            waits=waits,
            labels=labels,
            labels_unknown=labels_unknown,
            old_bootstrap=old_bootstrap,
            subscribes=subscribes,
        )

        node.additional_properties = d
        return node

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
