from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.delivery import Delivery
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.resource_input_labels import ResourceInputLabels


T = TypeVar("T", bound="ResourceInput")


@_attrs_define
class ResourceInput:
    """A document `{type, name, variant, selector, priority, ttl, delivery, labels, description, body}` whose type and name
    agree with the path where they
    stand, or Envoy's own message with `@type`. A document may carry the `revision` or the `etag` that it was read at,
    as an answer has them: where others have
    changed the resource since, and this would change it, it is 412. Unknown fields are refused, in the document and in
    every message inside. A private key, a password or a
    token in any other resource than a secret is `inline_key`: put it into a secret and name it with `sds_config`. A
    source (`ads`, `self`) that would make a
    proxy ask for a type of resource that is not served is `type_not_served`. `[redacted]`, as an answer has it, is
    `redacted`: write the value itself.
    In an apply or a plan `keep: true` in the place of the body stands for the resource as it is stored, a secret above
    all, which no answer shows: it is
    found unchanged, asks for no right, and is `not_stored` where there is none. What stands beside it must be what is
    stored (`keep_conflict`).

    """

    type_: str | Unset = UNSET
    """ Of a document, its `ResourceType`; a message may have a field of this name. """
    name: str | Unset = UNSET
    variant: str | Unset = UNSET
    selector: str | Unset = UNSET
    priority: int | Unset = UNSET
    ttl: str | Unset = UNSET
    delivery: Delivery | Unset = UNSET
    """ Of a cluster: only clients that ask for it by its name are sent it, as an Envoy does on demand and a gRPC
    client always; who asks for all clusters is not. Left out where all get it.
    It is no part of the version.
     """
    labels: ResourceInputLabels | Unset = UNSET
    description: str | Unset = UNSET
    body: Any | Unset = UNSET
    """ Envoy's own message as proto3 JSON, with the field names of the proto files. `[redacted]` stands in the
    place of a key, a password or a token, which a
    resource may hold that was written before they were refused, and of what else Envoy marks as sensitive.
     """
    keep: bool | Unset = UNSET
    """ In the place of the body: the resource as it is stored. """
    revision: int | Unset = UNSET
    """ The revision that it was read at. """
    etag: str | Unset = UNSET
    """ Likewise, of what was read. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        name = self.name

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

        keep = self.keep

        revision = self.revision

        etag = self.etag

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if type_ is not UNSET:
            field_dict["type"] = type_
        if name is not UNSET:
            field_dict["name"] = name
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
        if keep is not UNSET:
            field_dict["keep"] = keep
        if revision is not UNSET:
            field_dict["revision"] = revision
        if etag is not UNSET:
            field_dict["etag"] = etag

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.resource_input_labels import ResourceInputLabels

        d = dict(src_dict)
        type_ = d.pop("type", UNSET)

        name = d.pop("name", UNSET)

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
        labels: ResourceInputLabels | Unset
        if isinstance(_labels, Unset):
            labels = UNSET
        else:
            labels = ResourceInputLabels.from_dict(_labels)

        description = d.pop("description", UNSET)

        body = d.pop("body", UNSET)

        keep = d.pop("keep", UNSET)

        revision = d.pop("revision", UNSET)

        etag = d.pop("etag", UNSET)

        resource_input = cls(
            type_=type_,
            name=name,
            variant=variant,
            selector=selector,
            priority=priority,
            ttl=ttl,
            delivery=delivery,
            labels=labels,
            description=description,
            body=body,
            keep=keep,
            revision=revision,
            etag=etag,
        )

        resource_input.additional_properties = d
        return resource_input

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
