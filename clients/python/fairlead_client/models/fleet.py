from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.node_ids import NodeIds
from ..models.references import References
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.fleet_counts import FleetCounts
    from ..models.fleet_values import FleetValues


T = TypeVar("T", bound="Fleet")


@_attrs_define
class Fleet:
    id: str
    name: str
    description: str
    references: References
    """ What becomes of a write that leaves a listener without a route, an extension or a secret that it names, or a
    cluster without a secret. `warn`, the
    default: it is stored, with a warning, and nodes keep what they have of the resource until what it names is
    there. `strict`: it is refused.
     """
    node_ids: NodeIds
    """ Whether several clients may have one node id at the same time. `shared`, the default: they may; what one of
    them refuses counts for that one alone, and they
    are told as duplicates. `exclusive`: a client is refused while another one with its id has a stream of the same
    service, on the same server or, as far as
    the database knows, on another one. A client whose own connection broke is let in again once that has been
    noticed, which takes 40 s at most.
     """
    receipt_window: str
    """ For how long before a revision a node must have been seen to count in its receipt; one that is connected
    always counts. From `1m` to `30d`, `1d` by
    default; a whole number of `s`, `m`, `h` or `d`.
     """
    forget_nodes_after: str
    """ After how long without a connection a node is forgotten, with what it refused. Deletions are kept as long
    for it: one that comes back later is sent
    everything. From `1h` to `90d`, `7d` by default; a whole number of `s`, `m`, `h` or `d`.
     """
    static_clusters: list[str]
    """ Clusters that the proxies have in their own bootstrap: to name one is no finding. The one that leads to
    Fairlead, `fairlead_xds`, is known without being
    listed. A list that is given takes the place of the present one.
     """
    private_clusters: list[str]
    """ Clusters of the proxies' own bootstrap that may carry the proxies' credentials: a token, a client
    certificate. What is written may name one only by a token that
    may write the guard rule `bootstrap_names`. They need not stand in `static_clusters` too. Every name that begins
    with `fairlead_` is
    private without being listed. A list that is given takes the place of the present one.
     """
    local_ports: list[int]
    """ Ports of the proxies' own machine, such as those of backends beside them: an address of that machine with
    one of these ports is ordinary content, which everybody who writes may
    write. Any other needs the guard rule `loopback`. 9901 is where Envoy's admin interface listens by default,
    which shows all that a proxy knows and ends it: who opens it gives
    that to everybody who writes, on every machine. A list that is given takes the place of the present one.
     """
    values: FleetValues
    """ Texts by their names, which stand in the place of `${fleet.values.NAME}` in the texts of a body when that is
    written to the fleet, so that several fleets can be written
    from the same files. Those that are given take the place of the present ones of the same names, and an empty
    text takes one away; the others stay. What is written already
    keeps what it was written with until it is written again: the finding `value_changed` names it. A name is
    letters, digits and `_`, not a digit first, at most 64; a fleet
    has at most 100. They are no place for secrets: whoever may read the fleet reads them.
     """
    etag: str
    """ Names the settings as they are, those above but for the name: the `If-Match` of who changes them. """
    revision: int
    """ The newest revision; 0 before the first change. """
    changed_at: datetime.datetime
    """ When that was made; before the first change when the fleet was. """
    resources: int
    """ How many resources it has; variants count. """
    created_at: datetime.datetime
    load_report_interval: str | Unset = UNSET
    """ How often proxies that report their load are to do so: from `1s` to `1m`, a whole number of `s` or `m`.
    Empty, or left out of an answer: as often as the xDS servers say, `10s` by
    default. A proxy hears of a change after its next report, some ten seconds later.
     """
    load_report_clusters: list[str] | Unset = UNSET
    """ The clusters that proxies which report their load are to report. Empty, or left out of an answer: all that
    they have. A list that is given takes the place of
    the present one.
     """
    load_report_endpoints: bool | Unset = UNSET
    """ Whether proxies that report their load count requests for each endpoint, too. Left out of an answer where
    they do not. """
    counts: FleetCounts | Unset = UNSET
    """ What the fleet consists of at present. In the answer of `getFleet`, and in a list that was asked with
    `counts=true`: to count costs what the fleet has, which a list pays
    for each of its fleets.
     """
    deleted_at: datetime.datetime | Unset = UNSET
    """ When it was deleted; 30 days later it is removed. Left out of one that is there. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        description = self.description

        references = self.references.value

        node_ids = self.node_ids.value

        receipt_window = self.receipt_window

        forget_nodes_after = self.forget_nodes_after

        static_clusters = self.static_clusters

        private_clusters = self.private_clusters

        local_ports = self.local_ports

        values = self.values.to_dict()

        etag = self.etag

        revision = self.revision

        changed_at = self.changed_at.isoformat()

        resources = self.resources

        created_at = self.created_at.isoformat()

        load_report_interval = self.load_report_interval

        load_report_clusters: list[str] | Unset = UNSET
        if not isinstance(self.load_report_clusters, Unset):
            load_report_clusters = self.load_report_clusters

        load_report_endpoints = self.load_report_endpoints

        counts: dict[str, Any] | Unset = UNSET
        if not isinstance(self.counts, Unset):
            counts = self.counts.to_dict()

        deleted_at: str | Unset = UNSET
        if not isinstance(self.deleted_at, Unset):
            deleted_at = self.deleted_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "description": description,
                "references": references,
                "node_ids": node_ids,
                "receipt_window": receipt_window,
                "forget_nodes_after": forget_nodes_after,
                "static_clusters": static_clusters,
                "private_clusters": private_clusters,
                "local_ports": local_ports,
                "values": values,
                "etag": etag,
                "revision": revision,
                "changed_at": changed_at,
                "resources": resources,
                "created_at": created_at,
            }
        )
        if load_report_interval is not UNSET:
            field_dict["load_report_interval"] = load_report_interval
        if load_report_clusters is not UNSET:
            field_dict["load_report_clusters"] = load_report_clusters
        if load_report_endpoints is not UNSET:
            field_dict["load_report_endpoints"] = load_report_endpoints
        if counts is not UNSET:
            field_dict["counts"] = counts
        if deleted_at is not UNSET:
            field_dict["deleted_at"] = deleted_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.fleet_counts import FleetCounts
        from ..models.fleet_values import FleetValues

        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        description = d.pop("description")

        references = References(d.pop("references"))

        node_ids = NodeIds(d.pop("node_ids"))

        receipt_window = d.pop("receipt_window")

        forget_nodes_after = d.pop("forget_nodes_after")

        static_clusters = cast(list[str], d.pop("static_clusters"))

        private_clusters = cast(list[str], d.pop("private_clusters"))

        local_ports = cast(list[int], d.pop("local_ports"))

        values = FleetValues.from_dict(d.pop("values"))

        etag = d.pop("etag")

        revision = d.pop("revision")

        changed_at = datetime.datetime.fromisoformat(d.pop("changed_at"))

        resources = d.pop("resources")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        load_report_interval = d.pop("load_report_interval", UNSET)

        load_report_clusters = cast(list[str], d.pop("load_report_clusters", UNSET))

        load_report_endpoints = d.pop("load_report_endpoints", UNSET)

        _counts = d.pop("counts", UNSET)
        counts: FleetCounts | Unset
        if isinstance(_counts, Unset):
            counts = UNSET
        else:
            counts = FleetCounts.from_dict(_counts)

        _deleted_at = d.pop("deleted_at", UNSET)
        deleted_at: datetime.datetime | Unset
        if isinstance(_deleted_at, Unset):
            deleted_at = UNSET
        else:
            deleted_at = datetime.datetime.fromisoformat(_deleted_at)

        fleet = cls(
            id=id,
            name=name,
            description=description,
            references=references,
            node_ids=node_ids,
            receipt_window=receipt_window,
            forget_nodes_after=forget_nodes_after,
            static_clusters=static_clusters,
            private_clusters=private_clusters,
            local_ports=local_ports,
            values=values,
            etag=etag,
            revision=revision,
            changed_at=changed_at,
            resources=resources,
            created_at=created_at,
            load_report_interval=load_report_interval,
            load_report_clusters=load_report_clusters,
            load_report_endpoints=load_report_endpoints,
            counts=counts,
            deleted_at=deleted_at,
        )

        fleet.additional_properties = d
        return fleet

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
