from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.variant_ref import VariantRef


T = TypeVar("T", bound="RollbackRequest")


@_attrs_define
class RollbackRequest:
    """
    Example:
        {'revision': 5, 'message': 'the new route answers 404'}

    """

    revision: int
    """ The revision whose content to restore. """
    message: str | Unset = UNSET
    """ Why, for the history; at most 1024 bytes. """
    expected_revision: int | Unset = UNSET
    """ The revision that the fleet must be at, or else it is 412. """
    plan: str | Unset = UNSET
    """ The token of a plan of this rollback. It is 412 if what the plan shows has changed since; what else others
    wrote since the plan stays. """
    confirm: str | Unset = UNSET
    """ The same, or the token of the answer that asked for a confirmation: it also confirms what the plan's
    `confirm` tells. """
    resources: list[VariantRef] | Unset = UNSET
    """ What to roll back, each resource once; left out for the whole fleet. What the revision did not have is
    deleted. What the history knows nothing of
    is 422 `unknown_resource`.
     """

    def to_dict(self) -> dict[str, Any]:
        revision = self.revision

        message = self.message

        expected_revision = self.expected_revision

        plan = self.plan

        confirm = self.confirm

        resources: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.resources, Unset):
            resources = []
            for resources_item_data in self.resources:
                resources_item = resources_item_data.to_dict()
                resources.append(resources_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "revision": revision,
            }
        )
        if message is not UNSET:
            field_dict["message"] = message
        if expected_revision is not UNSET:
            field_dict["expected_revision"] = expected_revision
        if plan is not UNSET:
            field_dict["plan"] = plan
        if confirm is not UNSET:
            field_dict["confirm"] = confirm
        if resources is not UNSET:
            field_dict["resources"] = resources

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.variant_ref import VariantRef

        d = dict(src_dict)
        revision = d.pop("revision")

        message = d.pop("message", UNSET)

        expected_revision = d.pop("expected_revision", UNSET)

        plan = d.pop("plan", UNSET)

        confirm = d.pop("confirm", UNSET)

        _resources = d.pop("resources", UNSET)
        resources: list[VariantRef] | Unset = UNSET
        if _resources is not UNSET:
            resources = []
            for resources_item_data in _resources:
                resources_item = VariantRef.from_dict(resources_item_data)

                resources.append(resources_item)

        rollback_request = cls(
            revision=revision,
            message=message,
            expected_revision=expected_revision,
            plan=plan,
            confirm=confirm,
            resources=resources,
        )

        return rollback_request
