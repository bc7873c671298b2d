from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.audit_check_state import AuditCheckState
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.audit_anchor import AuditAnchor
    from ..models.audit_delivery import AuditDelivery
    from ..models.audit_fault import AuditFault
    from ..models.audit_head import AuditHead


T = TypeVar("T", bound="AuditCheck")


@_attrs_define
class AuditCheck:
    state: AuditCheckState
    """ What the last verification found. `unverified`: there was none yet, as of a tenant of today.
     """
    unchained: int
    """ How many events there were when the chain began: they are in none, and a change of them does not show. """
    deliveries: list[AuditDelivery]
    """ What the collectors have, which the operator may have set up. """
    checked_at: datetime.datetime | Unset = UNSET
    """ When the last verification ended. """
    checked_seq: int | Unset = UNSET
    """ Up to which number it came. """
    fault: AuditFault | Unset = UNSET
    """ The first thing that is wrong with the chain. """
    begun_at: datetime.datetime | Unset = UNSET
    """ When the chain began; left out while there is none. """
    head: AuditHead | Unset = UNSET
    """ The newest link of a chain at one time. A signed one has all fields. """
    signed: AuditHead | Unset = UNSET
    """ The newest link of a chain at one time. A signed one has all fields. """
    anchor: AuditAnchor | Unset = UNSET
    """ The last link that retention has removed. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        state = self.state.value

        unchained = self.unchained

        deliveries = []
        for deliveries_item_data in self.deliveries:
            deliveries_item = deliveries_item_data.to_dict()
            deliveries.append(deliveries_item)

        checked_at: str | Unset = UNSET
        if not isinstance(self.checked_at, Unset):
            checked_at = self.checked_at.isoformat()

        checked_seq = self.checked_seq

        fault: dict[str, Any] | Unset = UNSET
        if not isinstance(self.fault, Unset):
            fault = self.fault.to_dict()

        begun_at: str | Unset = UNSET
        if not isinstance(self.begun_at, Unset):
            begun_at = self.begun_at.isoformat()

        head: dict[str, Any] | Unset = UNSET
        if not isinstance(self.head, Unset):
            head = self.head.to_dict()

        signed: dict[str, Any] | Unset = UNSET
        if not isinstance(self.signed, Unset):
            signed = self.signed.to_dict()

        anchor: dict[str, Any] | Unset = UNSET
        if not isinstance(self.anchor, Unset):
            anchor = self.anchor.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "state": state,
                "unchained": unchained,
                "deliveries": deliveries,
            }
        )
        if checked_at is not UNSET:
            field_dict["checked_at"] = checked_at
        if checked_seq is not UNSET:
            field_dict["checked_seq"] = checked_seq
        if fault is not UNSET:
            field_dict["fault"] = fault
        if begun_at is not UNSET:
            field_dict["begun_at"] = begun_at
        if head is not UNSET:
            field_dict["head"] = head
        if signed is not UNSET:
            field_dict["signed"] = signed
        if anchor is not UNSET:
            field_dict["anchor"] = anchor

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.audit_anchor import AuditAnchor
        from ..models.audit_delivery import AuditDelivery
        from ..models.audit_fault import AuditFault
        from ..models.audit_head import AuditHead

        d = dict(src_dict)
        state = AuditCheckState(d.pop("state"))

        unchained = d.pop("unchained")

        deliveries = []
        _deliveries = d.pop("deliveries")
        for deliveries_item_data in _deliveries:
            deliveries_item = AuditDelivery.from_dict(deliveries_item_data)

            deliveries.append(deliveries_item)

        _checked_at = d.pop("checked_at", UNSET)
        checked_at: datetime.datetime | Unset
        if isinstance(_checked_at, Unset):
            checked_at = UNSET
        else:
            checked_at = datetime.datetime.fromisoformat(_checked_at)

        checked_seq = d.pop("checked_seq", UNSET)

        _fault = d.pop("fault", UNSET)
        fault: AuditFault | Unset
        if isinstance(_fault, Unset):
            fault = UNSET
        else:
            fault = AuditFault.from_dict(_fault)

        _begun_at = d.pop("begun_at", UNSET)
        begun_at: datetime.datetime | Unset
        if isinstance(_begun_at, Unset):
            begun_at = UNSET
        else:
            begun_at = datetime.datetime.fromisoformat(_begun_at)

        _head = d.pop("head", UNSET)
        head: AuditHead | Unset
        if isinstance(_head, Unset):
            head = UNSET
        else:
            head = AuditHead.from_dict(_head)

        _signed = d.pop("signed", UNSET)
        signed: AuditHead | Unset
        if isinstance(_signed, Unset):
            signed = UNSET
        else:
            signed = AuditHead.from_dict(_signed)

        _anchor = d.pop("anchor", UNSET)
        anchor: AuditAnchor | Unset
        if isinstance(_anchor, Unset):
            anchor = UNSET
        else:
            anchor = AuditAnchor.from_dict(_anchor)

        audit_check = cls(
            state=state,
            unchained=unchained,
            deliveries=deliveries,
            checked_at=checked_at,
            checked_seq=checked_seq,
            fault=fault,
            begun_at=begun_at,
            head=head,
            signed=signed,
            anchor=anchor,
        )

        audit_check.additional_properties = d
        return audit_check

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
