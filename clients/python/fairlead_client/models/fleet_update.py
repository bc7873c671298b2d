from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.node_ids import NodeIds
from ..models.references import References
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.fleet_values import FleetValues


T = TypeVar("T", bound="FleetUpdate")


@_attrs_define
class FleetUpdate:
    """
    Example:
        {'references': 'strict'}

    """

    description: str | Unset = UNSET
    """ For people, at most 4096 bytes. """
    references: References | Unset = UNSET
    """ What becomes of a write that leaves a listener without a route, an extension or a secret that it names, or a
    cluster without a secret. `warn`, the
    default: it is stored, with a warning, and nodes keep what they have of the resource until what it names is
    there. `strict`: it is refused.
     """
    node_ids: NodeIds | Unset = UNSET
    """ Whether several clients may have one node id at the same time. `shared`, the default: they may; what one of
    them refuses counts for that one alone, and they
    are told as duplicates. `exclusive`: a client is refused while another one with its id has a stream of the same
    service, on the same server or, as far as
    the database knows, on another one. A client whose own connection broke is let in again once that has been
    noticed, which takes 40 s at most.
     """
    receipt_window: str | Unset = UNSET
    """ For how long before a revision a node must have been seen to count in its receipt; one that is connected
    always counts. From `1m` to `30d`, `1d` by
    default; a whole number of `s`, `m`, `h` or `d`.
     """
    forget_nodes_after: str | Unset = UNSET
    """ After how long without a connection a node is forgotten, with what it refused. Deletions are kept as long
    for it: one that comes back later is sent
    everything. From `1h` to `90d`, `7d` by default; a whole number of `s`, `m`, `h` or `d`.
     """
    static_clusters: list[str] | Unset = UNSET
    """ Clusters that the proxies have in their own bootstrap: to name one is no finding. The one that leads to
    Fairlead, `fairlead_xds`, is known without being
    listed. A list that is given takes the place of the present one.
     """
    private_clusters: list[str] | Unset = UNSET
    """ Clusters of the proxies' own bootstrap that may carry the proxies' credentials: a token, a client
    certificate. What is written may name one only by a token that
    may write the guard rule `bootstrap_names`. They need not stand in `static_clusters` too. Every name that begins
    with `fairlead_` is
    private without being listed. A list that is given takes the place of the present one.
     """
    local_ports: list[int] | Unset = UNSET
    """ Ports of the proxies' own machine, such as those of backends beside them: an address of that machine with
    one of these ports is ordinary content, which everybody who writes may
    write. Any other needs the guard rule `loopback`. 9901 is where Envoy's admin interface listens by default,
    which shows all that a proxy knows and ends it: who opens it gives
    that to everybody who writes, on every machine. A list that is given takes the place of the present one.
     """
    values: FleetValues | Unset = UNSET
    """ Texts by their names, which stand in the place of `${fleet.values.NAME}` in the texts of a body when that is
    written to the fleet, so that several fleets can be written
    from the same files. Those that are given take the place of the present ones of the same names, and an empty
    text takes one away; the others stay. What is written already
    keeps what it was written with until it is written again: the finding `value_changed` names it. A name is
    letters, digits and `_`, not a digit first, at most 64; a fleet
    has at most 100. They are no place for secrets: whoever may read the fleet reads them.
     """
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

    def to_dict(self) -> dict[str, Any]:
        description = self.description

        references: str | Unset = UNSET
        if not isinstance(self.references, Unset):
            references = self.references.value

        node_ids: str | Unset = UNSET
        if not isinstance(self.node_ids, Unset):
            node_ids = self.node_ids.value

        receipt_window = self.receipt_window

        forget_nodes_after = self.forget_nodes_after

        static_clusters: list[str] | Unset = UNSET
        if not isinstance(self.static_clusters, Unset):
            static_clusters = self.static_clusters

        private_clusters: list[str] | Unset = UNSET
        if not isinstance(self.private_clusters, Unset):
            private_clusters = self.private_clusters

        local_ports: list[int] | Unset = UNSET
        if not isinstance(self.local_ports, Unset):
            local_ports = self.local_ports

        values: dict[str, Any] | Unset = UNSET
        if not isinstance(self.values, Unset):
            values = self.values.to_dict()

        load_report_interval = self.load_report_interval

        load_report_clusters: list[str] | Unset = UNSET
        if not isinstance(self.load_report_clusters, Unset):
            load_report_clusters = self.load_report_clusters

        load_report_endpoints = self.load_report_endpoints

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if description is not UNSET:
            field_dict["description"] = description
        if references is not UNSET:
            field_dict["references"] = references
        if node_ids is not UNSET:
            field_dict["node_ids"] = node_ids
        if receipt_window is not UNSET:
            field_dict["receipt_window"] = receipt_window
        if forget_nodes_after is not UNSET:
            field_dict["forget_nodes_after"] = forget_nodes_after
        if static_clusters is not UNSET:
            field_dict["static_clusters"] = static_clusters
        if private_clusters is not UNSET:
            field_dict["private_clusters"] = private_clusters
        if local_ports is not UNSET:
            field_dict["local_ports"] = local_ports
        if values is not UNSET:
            field_dict["values"] = values
        if load_report_interval is not UNSET:
            field_dict["load_report_interval"] = load_report_interval
        if load_report_clusters is not UNSET:
            field_dict["load_report_clusters"] = load_report_clusters
        if load_report_endpoints is not UNSET:
            field_dict["load_report_endpoints"] = load_report_endpoints

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.fleet_values import FleetValues

        d = dict(src_dict)
        description = d.pop("description", UNSET)

        _references = d.pop("references", UNSET)
        references: References | Unset
        if isinstance(_references, Unset):
            references = UNSET
        else:
            references = References(_references)

        _node_ids = d.pop("node_ids", UNSET)
        node_ids: NodeIds | Unset
        if isinstance(_node_ids, Unset):
            node_ids = UNSET
        else:
            node_ids = NodeIds(_node_ids)

        receipt_window = d.pop("receipt_window", UNSET)

        forget_nodes_after = d.pop("forget_nodes_after", UNSET)

        static_clusters = cast(list[str], d.pop("static_clusters", UNSET))

        private_clusters = cast(list[str], d.pop("private_clusters", UNSET))

        local_ports = cast(list[int], d.pop("local_ports", UNSET))

        _values = d.pop("values", UNSET)
        values: FleetValues | Unset
        if isinstance(_values, Unset):
            values = UNSET
        else:
            values = FleetValues.from_dict(_values)

        load_report_interval = d.pop("load_report_interval", UNSET)

        load_report_clusters = cast(list[str], d.pop("load_report_clusters", UNSET))

        load_report_endpoints = d.pop("load_report_endpoints", UNSET)

        fleet_update = cls(
            description=description,
            references=references,
            node_ids=node_ids,
            receipt_window=receipt_window,
            forget_nodes_after=forget_nodes_after,
            static_clusters=static_clusters,
            private_clusters=private_clusters,
            local_ports=local_ports,
            values=values,
            load_report_interval=load_report_interval,
            load_report_clusters=load_report_clusters,
            load_report_endpoints=load_report_endpoints,
        )

        return fleet_update
