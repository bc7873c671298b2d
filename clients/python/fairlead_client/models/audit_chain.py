from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.audit_anchor import AuditAnchor
    from ..models.audit_head import AuditHead
    from ..models.audit_link import AuditLink


T = TypeVar("T", bound="AuditChain")


@_attrs_define
class AuditChain:
    tenant_id: str
    items: list[AuditLink]
    head: AuditHead | Unset = UNSET
    """ The newest link of a chain at one time. A signed one has all fields. """
    anchor: AuditAnchor | Unset = UNSET
    """ The last link that retention has removed. """
    unlinked: int | Unset = UNSET
    """ On the last page: how many events are in no chain. More than `unchained` of them were inserted behind its
    back. """
    unchained: int | Unset = UNSET
    next_cursor: str | Unset = UNSET
    """ Left out on the last page. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        tenant_id = self.tenant_id

        items = []
        for items_item_data in self.items:
            items_item = items_item_data.to_dict()
            items.append(items_item)

        head: dict[str, Any] | Unset = UNSET
        if not isinstance(self.head, Unset):
            head = self.head.to_dict()

        anchor: dict[str, Any] | Unset = UNSET
        if not isinstance(self.anchor, Unset):
            anchor = self.anchor.to_dict()

        unlinked = self.unlinked

        unchained = self.unchained

        next_cursor = self.next_cursor

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "tenant_id": tenant_id,
                "items": items,
            }
        )
        if head is not UNSET:
            field_dict["head"] = head
        if anchor is not UNSET:
            field_dict["anchor"] = anchor
        if unlinked is not UNSET:
            field_dict["unlinked"] = unlinked
        if unchained is not UNSET:
            field_dict["unchained"] = unchained
        if next_cursor is not UNSET:
            field_dict["next_cursor"] = next_cursor

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.audit_anchor import AuditAnchor
        from ..models.audit_head import AuditHead
        from ..models.audit_link import AuditLink

        d = dict(src_dict)
        tenant_id = d.pop("tenant_id")

        items = []
        _items = d.pop("items")
        for items_item_data in _items:
            items_item = AuditLink.from_dict(items_item_data)

            items.append(items_item)

        _head = d.pop("head", UNSET)
        head: AuditHead | Unset
        if isinstance(_head, Unset):
            head = UNSET
        else:
            head = AuditHead.from_dict(_head)

        _anchor = d.pop("anchor", UNSET)
        anchor: AuditAnchor | Unset
        if isinstance(_anchor, Unset):
            anchor = UNSET
        else:
            anchor = AuditAnchor.from_dict(_anchor)

        unlinked = d.pop("unlinked", UNSET)

        unchained = d.pop("unchained", UNSET)

        next_cursor = d.pop("next_cursor", UNSET)

        audit_chain = cls(
            tenant_id=tenant_id,
            items=items,
            head=head,
            anchor=anchor,
            unlinked=unlinked,
            unchained=unchained,
            next_cursor=next_cursor,
        )

        audit_chain.additional_properties = d
        return audit_chain

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
