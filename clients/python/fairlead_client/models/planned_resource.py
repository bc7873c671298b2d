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
    from ..models.resource_ref import ResourceRef


T = TypeVar("T", bound="PlannedResource")


@_attrs_define
class PlannedResource:
    type_: ResourceType
    """ The resource's type, by the name of its list. """
    name: str
    action: PlanAction
    """ What would become of a resource. """
    variant: str | Unset = UNSET
    revision: int | Unset = UNSET
    """ The revision that last changed what is there now; left out where there is nothing. """
    nodes: int | Unset = UNSET
    """ How many nodes would get it and do not have it so, or have it and would not have it so. """
    withheld_by: list[ResourceRef] | Unset = UNSET
    """ What it names, cannot do without, and would not be there. A node that does not have a version which names
    that already would not get it until it is there. """
    changes: list[PlannedChange] | Unset = UNSET
    """ The difference, as a patch after RFC 6902 of the document as `get` has it, without version, revision and
    times. """
    diff: str | Unset = UNSET
    """ The difference as a unified diff of YAML. """
    hidden: bool | Unset = UNSET
    """ Some of what would change is not shown: of a secret's content, or where `[redacted]` stands. """
    omitted: bool | Unset = UNSET
    """ The plan is too large: this one's difference is left out. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_.value

        name = self.name

        action = self.action.value

        variant = self.variant

        revision = self.revision

        nodes = self.nodes

        withheld_by: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.withheld_by, Unset):
            withheld_by = []
            for withheld_by_item_data in self.withheld_by:
                withheld_by_item = withheld_by_item_data.to_dict()
                withheld_by.append(withheld_by_item)

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
        if revision is not UNSET:
            field_dict["revision"] = revision
        if nodes is not UNSET:
            field_dict["nodes"] = nodes
        if withheld_by is not UNSET:
            field_dict["withheld_by"] = withheld_by
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
        from ..models.resource_ref import ResourceRef

        d = dict(src_dict)
        type_ = ResourceType(d.pop("type"))

        name = d.pop("name")

        action = PlanAction(d.pop("action"))

        variant = d.pop("variant", UNSET)

        revision = d.pop("revision", UNSET)

        nodes = d.pop("nodes", UNSET)

        _withheld_by = d.pop("withheld_by", UNSET)
        withheld_by: list[ResourceRef] | Unset = UNSET
        if _withheld_by is not UNSET:
            withheld_by = []
            for withheld_by_item_data in _withheld_by:
                withheld_by_item = ResourceRef.from_dict(withheld_by_item_data)

                withheld_by.append(withheld_by_item)

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

        planned_resource = cls(
            type_=type_,
            name=name,
            action=action,
            variant=variant,
            revision=revision,
            nodes=nodes,
            withheld_by=withheld_by,
            changes=changes,
            diff=diff,
            hidden=hidden,
            omitted=omitted,
        )

        planned_resource.additional_properties = d
        return planned_resource

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
