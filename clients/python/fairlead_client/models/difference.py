from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.plan_action import PlanAction
from ..models.resource_type import ResourceType
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.planned_change import PlannedChange
    from ..models.side import Side


T = TypeVar("T", bound="Difference")


@_attrs_define
class Difference:
    type_: ResourceType
    """ The resource's type, by the name of its list. """
    name: str
    action: PlanAction
    """ What would become of a resource. """
    variant: str | Unset = UNSET
    before: Side | Unset = UNSET
    """ A resource as it was at one of two revisions; left out where it was not there. """
    after: Side | Unset = UNSET
    """ A resource as it was at one of two revisions; left out where it was not there. """
    changes: list[PlannedChange] | Unset = UNSET
    """ The difference, as a patch after RFC 6902 of the document as `get` has it, without version, revision and
    times. """
    diff: str | Unset = UNSET
    """ The difference as a unified diff of YAML. """
    hidden: bool | Unset = UNSET
    """ Some of what differs is not shown: of a secret's content, or where `[redacted]` stands. """
    omitted: bool | Unset = UNSET
    """ The page is too large: this one's difference is left out. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_.value

        name = self.name

        action = self.action.value

        variant = self.variant

        before: dict[str, Any] | Unset = UNSET
        if not isinstance(self.before, Unset):
            before = self.before.to_dict()

        after: dict[str, Any] | Unset = UNSET
        if not isinstance(self.after, Unset):
            after = self.after.to_dict()

        changes: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.changes, Unset):
            changes = []
            for changes_item_data in self.changes:
                changes_item = changes_item_data.to_dict()
                changes.append(changes_item)

        diff = self.diff

        hidden = self.hidden

        omitted = self.omitted

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "name": name,
                "action": action,
            }
        )
        if variant is not UNSET:
            field_dict["variant"] = variant
        if before is not UNSET:
            field_dict["before"] = before
        if after is not UNSET:
            field_dict["after"] = after
        if changes is not UNSET:
            field_dict["changes"] = changes
        if diff is not UNSET:
            field_dict["diff"] = diff
        if hidden is not UNSET:
            field_dict["hidden"] = hidden
        if omitted is not UNSET:
            field_dict["omitted"] = omitted

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.planned_change import PlannedChange
        from ..models.side import Side

        d = dict(src_dict)
        type_ = ResourceType(d.pop("type"))

        name = d.pop("name")

        action = PlanAction(d.pop("action"))

        variant = d.pop("variant", UNSET)

        _before = d.pop("before", UNSET)
        before: Side | Unset
        if isinstance(_before, Unset):
            before = UNSET
        else:
            before = Side.from_dict(_before)

        _after = d.pop("after", UNSET)
        after: Side | Unset
        if isinstance(_after, Unset):
            after = UNSET
        else:
            after = Side.from_dict(_after)

        _changes = d.pop("changes", UNSET)
        changes: list[PlannedChange] | Unset = UNSET
        if _changes is not UNSET:
            changes = []
            for changes_item_data in _changes:
                changes_item = PlannedChange.from_dict(changes_item_data)

                changes.append(changes_item)

        diff = d.pop("diff", UNSET)

        hidden = d.pop("hidden", UNSET)

        omitted = d.pop("omitted", UNSET)

        difference = cls(
            type_=type_,
            name=name,
            action=action,
            variant=variant,
            before=before,
            after=after,
            changes=changes,
            diff=diff,
            hidden=hidden,
            omitted=omitted,
        )

        difference.additional_properties = d
        return difference

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
