from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.delivery import Delivery
from ..models.resource_type import ResourceType
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.resource_labels import ResourceLabels
    from ..models.resource_values import ResourceValues
    from ..models.secret_summary import SecretSummary


T = TypeVar("T", bound="Resource")


@_attrs_define
class Resource:
    type_: ResourceType
    """ The resource's type, by the name of its list. """
    name: str
    version: str
    """ The hash of the content, the same on every server and after a rollback. """
    revision: int
    """ The revision that last changed it. """
    etag: str
    """ Names this state of it, as the header of a read does. """
    created_at: datetime.datetime
    updated_at: datetime.datetime
    variant: str | Unset = UNSET
    """ Left out for the default variant, which is for the nodes that no other one matches. """
    selector: str | Unset = UNSET
    """ The nodes that a variant is for, by what they say of themselves: requirements joined by commas, such as
    `locality.region=eu,metadata.canary`.
    The default variant has none, every other one needs one. It is no security boundary: labels are the node's own
    claim.
     """
    priority: int | Unset = UNSET
    """ Of the variants that match the highest wins, among equals the smallest variant name; 0 if left out. """
    ttl: str | Unset = UNSET
    """ How long a client keeps it when no xDS server renews it, at least `1s`; renewed when a third of it has
    passed. It goes to Envoy over delta xDS, and
    to clients that declare the feature `xds.config.supports-resource-ttl`. An Envoy over state-of-the-world xDS is
    never sent it, because it crashes when one
    expires, and keeps the resource: a write answers with the warning `ttl_delta_only`. Envoy ignores it on routes,
    endpoints and secrets, to
    which it is not sent at all: the warning is `ttl_without_effect`.
     """
    delivery: Delivery | Unset = UNSET
    """ Of a cluster: only clients that ask for it by its name are sent it, as an Envoy does on demand and a gRPC
    client always; who asks for all clusters is not. Left out where all get it.
    It is no part of the version.
     """
    labels: ResourceLabels | Unset = UNSET
    description: str | Unset = UNSET
    body: Any | Unset = UNSET
    """ Envoy's own message as proto3 JSON, with the field names of the proto files. `[redacted]` stands in the
    place of a key, a password or a token, which a
    resource may hold that was written before they were refused, and of what else Envoy marks as sensitive.
     """
    values: ResourceValues | Unset = UNSET
    """ The fleet's values that stand in the place of the placeholders in `body`, as they were when it was written.
    Left out where there is no placeholder. """
    secret: SecretSummary | Unset = UNSET
    """ What is told of a secret, in place of its body. """
    updated_by: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_.value

        name = self.name

        version = self.version

        revision = self.revision

        etag = self.etag

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        variant = self.variant

        selector = self.selector

        priority = self.priority

        ttl = self.ttl

        delivery: str | Unset = UNSET
        if not isinstance(self.delivery, Unset):
            delivery = self.delivery.value

        labels: dict[str, Any] | Unset = UNSET
        if not isinstance(self.labels, Unset):
            labels = self.labels.to_dict()

        description = self.description

        body = self.body

        values: dict[str, Any] | Unset = UNSET
        if not isinstance(self.values, Unset):
            values = self.values.to_dict()

        secret: dict[str, Any] | Unset = UNSET
        if not isinstance(self.secret, Unset):
            secret = self.secret.to_dict()

        updated_by = self.updated_by

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "name": name,
                "version": version,
                "revision": revision,
                "etag": etag,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )
        if variant is not UNSET:
            field_dict["variant"] = variant
        if selector is not UNSET:
            field_dict["selector"] = selector
        if priority is not UNSET:
            field_dict["priority"] = priority
        if ttl is not UNSET:
            field_dict["ttl"] = ttl
        if delivery is not UNSET:
            field_dict["delivery"] = delivery
        if labels is not UNSET:
            field_dict["labels"] = labels
        if description is not UNSET:
            field_dict["description"] = description
        if body is not UNSET:
            field_dict["body"] = body
        if values is not UNSET:
            field_dict["values"] = values
        if secret is not UNSET:
            field_dict["secret"] = secret
        if updated_by is not UNSET:
            field_dict["updated_by"] = updated_by

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.resource_labels import ResourceLabels
        from ..models.resource_values import ResourceValues
        from ..models.secret_summary import SecretSummary

        d = dict(src_dict)
        type_ = ResourceType(d.pop("type"))

        name = d.pop("name")

        version = d.pop("version")

        revision = d.pop("revision")

        etag = d.pop("etag")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        variant = d.pop("variant", UNSET)

        selector = d.pop("selector", UNSET)

        priority = d.pop("priority", UNSET)

        ttl = d.pop("ttl", UNSET)

        _delivery = d.pop("delivery", UNSET)
        delivery: Delivery | Unset
        if isinstance(_delivery, Unset):
            delivery = UNSET
        else:
            delivery = Delivery(_delivery)

        _labels = d.pop("labels", UNSET)
        labels: ResourceLabels | Unset
        if isinstance(_labels, Unset):
            labels = UNSET
        else:
            labels = ResourceLabels.from_dict(_labels)

        description = d.pop("description", UNSET)

        body = d.pop("body", UNSET)

        _values = d.pop("values", UNSET)
        values: ResourceValues | Unset
        if isinstance(_values, Unset):
            values = UNSET
        else:
            values = ResourceValues.from_dict(_values)

        _secret = d.pop("secret", UNSET)
        secret: SecretSummary | Unset
        if isinstance(_secret, Unset):
            secret = UNSET
        else:
            secret = SecretSummary.from_dict(_secret)

        updated_by = d.pop("updated_by", UNSET)

        resource = cls(
            type_=type_,
            name=name,
            version=version,
            revision=revision,
            etag=etag,
            created_at=created_at,
            updated_at=updated_at,
            variant=variant,
            selector=selector,
            priority=priority,
            ttl=ttl,
            delivery=delivery,
            labels=labels,
            description=description,
            body=body,
            values=values,
            secret=secret,
            updated_by=updated_by,
        )

        resource.additional_properties = d
        return resource

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
