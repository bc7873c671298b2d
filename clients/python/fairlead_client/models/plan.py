from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.confirm_reason import ConfirmReason
    from ..models.field_error import FieldError
    from ..models.plan_counts import PlanCounts
    from ..models.plan_limit import PlanLimit
    from ..models.plan_reach import PlanReach
    from ..models.planned_resource import PlannedResource
    from ..models.write_findings import WriteFindings


T = TypeVar("T", bound="Plan")


@_attrs_define
class Plan:
    """What an apply, or a rollback, would do."""

    revision: int
    """ The fleet's revision that it was planned on; 0 before the first. """
    counts: PlanCounts
    resources: list[PlannedResource]
    """ Of an apply what was sent, in its order, resources before deletions; of a rollback what it would change, by
    type, name and variant. """
    limits: list[PlanLimit]
    """ What the fleet would have of each of its limits that a write counts for. """
    confirm: list[ConfirmReason]
    """ Why somebody is to confirm it; empty where nobody is. Else the write is only made with the token as
    `confirm`. """
    token: str
    """ For the write's `plan`, or its `confirm`. """
    warnings: list[FieldError] | Unset = UNSET
    """ Those of the write. """
    findings: WriteFindings | Unset = UNSET
    """ What is to be said of the fleet because of the write: of the resources that it names, whether it changed
    them or not, and of what names those that
    some nodes have no variant of any more. See docs/findings.md; `unreachable` is told by the fleet's findings
    alone.
     """
    reach: PlanReach | Unset = UNSET
    """ Whom it reaches: the nodes that would get something else than they have, by the labels that they have sent,
    whether or not they are connected. Which
    of it a node asks for is not looked at. Left out where it cannot be told at the moment.
     """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        revision = self.revision

        counts = self.counts.to_dict()

        resources = []
        for resources_item_data in self.resources:
            resources_item = resources_item_data.to_dict()
            resources.append(resources_item)

        limits = []
        for limits_item_data in self.limits:
            limits_item = limits_item_data.to_dict()
            limits.append(limits_item)

        confirm = []
        for confirm_item_data in self.confirm:
            confirm_item = confirm_item_data.to_dict()
            confirm.append(confirm_item)

        token = self.token

        warnings: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = []
            for warnings_item_data in self.warnings:
                warnings_item = warnings_item_data.to_dict()
                warnings.append(warnings_item)

        findings: dict[str, Any] | Unset = UNSET
        if not isinstance(self.findings, Unset):
            findings = self.findings.to_dict()

        reach: dict[str, Any] | Unset = UNSET
        if not isinstance(self.reach, Unset):
            reach = self.reach.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "revision": revision,
                "counts": counts,
                "resources": resources,
                "limits": limits,
                "confirm": confirm,
                "token": token,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings
        if findings is not UNSET:
            field_dict["findings"] = findings
        if reach is not UNSET:
            field_dict["reach"] = reach

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.confirm_reason import ConfirmReason
        from ..models.field_error import FieldError
        from ..models.plan_counts import PlanCounts
        from ..models.plan_limit import PlanLimit
        from ..models.plan_reach import PlanReach
        from ..models.planned_resource import PlannedResource
        from ..models.write_findings import WriteFindings

        d = dict(src_dict)
        revision = d.pop("revision")

        counts = PlanCounts.from_dict(d.pop("counts"))

        resources = []
        _resources = d.pop("resources")
        for resources_item_data in _resources:
            resources_item = PlannedResource.from_dict(resources_item_data)

            resources.append(resources_item)

        limits = []
        _limits = d.pop("limits")
        for limits_item_data in _limits:
            limits_item = PlanLimit.from_dict(limits_item_data)

            limits.append(limits_item)

        confirm = []
        _confirm = d.pop("confirm")
        for confirm_item_data in _confirm:
            confirm_item = ConfirmReason.from_dict(confirm_item_data)

            confirm.append(confirm_item)

        token = d.pop("token")

        _warnings = d.pop("warnings", UNSET)
        warnings: list[FieldError] | Unset = UNSET
        if _warnings is not UNSET:
            warnings = []
            for warnings_item_data in _warnings:
                warnings_item = FieldError.from_dict(warnings_item_data)

                warnings.append(warnings_item)

        _findings = d.pop("findings", UNSET)
        findings: WriteFindings | Unset
        if isinstance(_findings, Unset):
            findings = UNSET
        else:
            findings = WriteFindings.from_dict(_findings)

        _reach = d.pop("reach", UNSET)
        reach: PlanReach | Unset
        if isinstance(_reach, Unset):
            reach = UNSET
        else:
            reach = PlanReach.from_dict(_reach)

        plan = cls(
            revision=revision,
            counts=counts,
            resources=resources,
            limits=limits,
            confirm=confirm,
            token=token,
            warnings=warnings,
            findings=findings,
            reach=reach,
        )

        plan.additional_properties = d
        return plan

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
