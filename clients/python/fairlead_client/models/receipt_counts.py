from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ReceiptCounts")


@_attrs_define
class ReceiptCounts:
    acked: int
    """ Nodes that have it. Those that had something to take are `acked` without `unaffected`. """
    nacked: int
    pending: int
    offline: int
    left: int
    """ Nodes that were connected when the revision was made, or came after it, and have gone without it; counted in
    `offline` as well. The revision may be why they went, so it is `pending` until they come back or are forgotten.
    """
    withheld: int
    """ Nodes that have all but what is withheld from them; counted in `pending` as well. Waiting does not help
    them. """
    unaffected: int
    """ Nodes for which it changes nothing, so that they had nothing to confirm; counted in `acked` as well. Tell
    them apart: a change for one node of many is not confirmed by all. """
    late: int
    """ Nodes that came after the revision and have it by now; not in `acked`. Those that came later and refuse
    something of it are `nacked`. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        acked = self.acked

        nacked = self.nacked

        pending = self.pending

        offline = self.offline

        left = self.left

        withheld = self.withheld

        unaffected = self.unaffected

        late = self.late

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "acked": acked,
                "nacked": nacked,
                "pending": pending,
                "offline": offline,
                "left": left,
                "withheld": withheld,
                "unaffected": unaffected,
                "late": late,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        acked = d.pop("acked")

        nacked = d.pop("nacked")

        pending = d.pop("pending")

        offline = d.pop("offline")

        left = d.pop("left")

        withheld = d.pop("withheld")

        unaffected = d.pop("unaffected")

        late = d.pop("late")

        receipt_counts = cls(
            acked=acked,
            nacked=nacked,
            pending=pending,
            offline=offline,
            left=left,
            withheld=withheld,
            unaffected=unaffected,
            late=late,
        )

        receipt_counts.additional_properties = d
        return receipt_counts

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
