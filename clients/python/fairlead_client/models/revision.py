from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.receipt_state import ReceiptState
from ..types import UNSET, Unset

T = TypeVar("T", bound="Revision")


@_attrs_define
class Revision:
    revision: int
    kind: str
    """ A RevisionKind; servers that come later may have more. """
    committed_at: datetime.datetime
    changed: int
    """ How many resources it changed: `created`, `updated` and `deleted` together. """
    created: int
    updated: int
    deleted: int
    message: str | Unset = UNSET
    actor: str | Unset = UNSET
    """ The name of the token that wrote it. """
    run: int | Unset = UNSET
    """ Of the kind `endpoints`: how many revisions of this kind it stands for in a list, itself and those directly
    before it. """
    receipt: ReceiptState | Unset = UNSET
    """ `rejected` if any node refused something of the revision, else `pending` if any node has not answered or has
    left without an answer (`counts.left`), else `delivered` if any
    node has it. `stored`: no node has it and none is connected that could be waited for; a node that comes later
    makes it `delivered`.
     """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        revision = self.revision

        kind = self.kind

        committed_at = self.committed_at.isoformat()

        changed = self.changed

        created = self.created

        updated = self.updated

        deleted = self.deleted

        message = self.message

        actor = self.actor

        run = self.run

        receipt: str | Unset = UNSET
        if not isinstance(self.receipt, Unset):
            receipt = self.receipt.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "revision": revision,
                "kind": kind,
                "committed_at": committed_at,
                "changed": changed,
                "created": created,
                "updated": updated,
                "deleted": deleted,
            }
        )
        if message is not UNSET:
            field_dict["message"] = message
        if actor is not UNSET:
            field_dict["actor"] = actor
        if run is not UNSET:
            field_dict["run"] = run
        if receipt is not UNSET:
            field_dict["receipt"] = receipt

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        revision = d.pop("revision")

        kind = d.pop("kind")

        committed_at = datetime.datetime.fromisoformat(d.pop("committed_at"))

        changed = d.pop("changed")

        created = d.pop("created")

        updated = d.pop("updated")

        deleted = d.pop("deleted")

        message = d.pop("message", UNSET)

        actor = d.pop("actor", UNSET)

        run = d.pop("run", UNSET)

        _receipt = d.pop("receipt", UNSET)
        receipt: ReceiptState | Unset
        if isinstance(_receipt, Unset):
            receipt = UNSET
        else:
            receipt = ReceiptState(_receipt)

        revision = cls(
            revision=revision,
            kind=kind,
            committed_at=committed_at,
            changed=changed,
            created=created,
            updated=updated,
            deleted=deleted,
            message=message,
            actor=actor,
            run=run,
            receipt=receipt,
        )

        revision.additional_properties = d
        return revision

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
