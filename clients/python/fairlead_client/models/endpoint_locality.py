from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="EndpointLocality")


@_attrs_define
class EndpointLocality:
    """
    Example:
        {'region': 'eu-west-1', 'zone': 'eu-west-1a'}

    """

    region: str | Unset = UNSET
    zone: str | Unset = UNSET
    sub_zone: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        region = self.region

        zone = self.zone

        sub_zone = self.sub_zone

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if region is not UNSET:
            field_dict["region"] = region
        if zone is not UNSET:
            field_dict["zone"] = zone
        if sub_zone is not UNSET:
            field_dict["sub_zone"] = sub_zone

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        region = d.pop("region", UNSET)

        zone = d.pop("zone", UNSET)

        sub_zone = d.pop("sub_zone", UNSET)

        endpoint_locality = cls(
            region=region,
            zone=zone,
            sub_zone=sub_zone,
        )

        return endpoint_locality
