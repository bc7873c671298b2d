from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.endpoint_load import EndpointLoad
    from ..models.load_drop import LoadDrop
    from ..models.load_metric import LoadMetric
    from ..models.locality_load import LocalityLoad


T = TypeVar("T", bound="Load")


@_attrs_define
class Load:
    cluster: str
    """ As proxies name it; it need not be one of the fleet's. """
    minute: datetime.datetime
    """ Its beginning; of a cluster's sum, the newest minute of which something was reported. """
    issued: int
    """ Requests that were begun. """
    successful: int
    """ Requests that have ended well. Those that were begun before count too. """
    errors: int
    """ Requests that have failed: of HTTP those with a status of 500 and above. """
    dropped: int
    """ Requests that proxies dropped: drop_overload, circuit breakers. """
    in_progress: float | Unset = UNSET
    """ Of a minute: requests in progress, on average over the minute. """
    localities: list[LocalityLoad] | Unset = UNSET
    """ Of a minute: the localities that requests went to. """
    endpoints: list[EndpointLoad] | Unset = UNSET
    """ Of a minute: the endpoints that requests went to, where the fleet has `load_report_endpoints`. Their
    localities count the same requests. """
    drops: list[LoadDrop] | Unset = UNSET
    """ Of a minute: the reasons of drops. """
    metrics: list[LoadMetric] | Unset = UNSET
    """ Of a minute: what backends told of themselves (ORCA). """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        cluster = self.cluster

        minute = self.minute.isoformat()

        issued = self.issued

        successful = self.successful

        errors = self.errors

        dropped = self.dropped

        in_progress = self.in_progress

        localities: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.localities, Unset):
            localities = []
            for localities_item_data in self.localities:
                localities_item = localities_item_data.to_dict()
                localities.append(localities_item)

        endpoints: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.endpoints, Unset):
            endpoints = []
            for endpoints_item_data in self.endpoints:
                endpoints_item = endpoints_item_data.to_dict()
                endpoints.append(endpoints_item)

        drops: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.drops, Unset):
            drops = []
            for drops_item_data in self.drops:
                drops_item = drops_item_data.to_dict()
                drops.append(drops_item)

        metrics: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.metrics, Unset):
            metrics = []
            for metrics_item_data in self.metrics:
                metrics_item = metrics_item_data.to_dict()
                metrics.append(metrics_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "cluster": cluster,
                "minute": minute,
                "issued": issued,
                "successful": successful,
                "errors": errors,
                "dropped": dropped,
            }
        )
        if in_progress is not UNSET:
            field_dict["in_progress"] = in_progress
        if localities is not UNSET:
            field_dict["localities"] = localities
        if endpoints is not UNSET:
            field_dict["endpoints"] = endpoints
        if drops is not UNSET:
            field_dict["drops"] = drops
        if metrics is not UNSET:
            field_dict["metrics"] = metrics

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.endpoint_load import EndpointLoad
        from ..models.load_drop import LoadDrop
        from ..models.load_metric import LoadMetric
        from ..models.locality_load import LocalityLoad

        d = dict(src_dict)
        cluster = d.pop("cluster")

        minute = datetime.datetime.fromisoformat(d.pop("minute"))

        issued = d.pop("issued")

        successful = d.pop("successful")

        errors = d.pop("errors")

        dropped = d.pop("dropped")

        in_progress = d.pop("in_progress", UNSET)

        _localities = d.pop("localities", UNSET)
        localities: list[LocalityLoad] | Unset = UNSET
        if _localities is not UNSET:
            localities = []
            for localities_item_data in _localities:
                localities_item = LocalityLoad.from_dict(localities_item_data)

                localities.append(localities_item)

        _endpoints = d.pop("endpoints", UNSET)
        endpoints: list[EndpointLoad] | Unset = UNSET
        if _endpoints is not UNSET:
            endpoints = []
            for endpoints_item_data in _endpoints:
                endpoints_item = EndpointLoad.from_dict(endpoints_item_data)

                endpoints.append(endpoints_item)

        _drops = d.pop("drops", UNSET)
        drops: list[LoadDrop] | Unset = UNSET
        if _drops is not UNSET:
            drops = []
            for drops_item_data in _drops:
                drops_item = LoadDrop.from_dict(drops_item_data)

                drops.append(drops_item)

        _metrics = d.pop("metrics", UNSET)
        metrics: list[LoadMetric] | Unset = UNSET
        if _metrics is not UNSET:
            metrics = []
            for metrics_item_data in _metrics:
                metrics_item = LoadMetric.from_dict(metrics_item_data)

                metrics.append(metrics_item)

        load = cls(
            cluster=cluster,
            minute=minute,
            issued=issued,
            successful=successful,
            errors=errors,
            dropped=dropped,
            in_progress=in_progress,
            localities=localities,
            endpoints=endpoints,
            drops=drops,
            metrics=metrics,
        )

        load.additional_properties = d
        return load

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
