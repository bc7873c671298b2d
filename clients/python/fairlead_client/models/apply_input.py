from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.resource_input import ResourceInput
    from ..models.resource_name import ResourceName


T = TypeVar("T", bound="ApplyInput")


@_attrs_define
class ApplyInput:
    """Documents to write and resources to delete, as one revision; at least one of the two lists."""

    resources: list[ResourceInput] | Unset = UNSET
    delete: list[ResourceName] | Unset = UNSET
    message: str | Unset = UNSET
    """ Why, for the history; at most 1024 bytes. """
    expected_revision: int | Unset = UNSET
    """ The revision that the fleet must be at, or else it is 412. """
    plan: str | Unset = UNSET
    """ The token of a plan. """
    confirm: str | Unset = UNSET
    """ The token of a plan, or of the answer that asked for a confirmation: it does what `plan` does, and confirms
    what the plan's `confirm` tells. """
    version_info: str | Unset = UNSET
    """ Of a file that an Envoy reads for itself, like the next one; it means nothing here. """
    type_url: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        resources: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.resources, Unset):
            resources = []
            for resources_item_data in self.resources:
                resources_item = resources_item_data.to_dict()
                resources.append(resources_item)

        delete: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.delete, Unset):
            delete = []
            for delete_item_data in self.delete:
                delete_item = delete_item_data.to_dict()
                delete.append(delete_item)

        message = self.message

        expected_revision = self.expected_revision

        plan = self.plan

        confirm = self.confirm

        version_info = self.version_info

        type_url = self.type_url

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if resources is not UNSET:
            field_dict["resources"] = resources
        if delete is not UNSET:
            field_dict["delete"] = delete
        if message is not UNSET:
            field_dict["message"] = message
        if expected_revision is not UNSET:
            field_dict["expected_revision"] = expected_revision
        if plan is not UNSET:
            field_dict["plan"] = plan
        if confirm is not UNSET:
            field_dict["confirm"] = confirm
        if version_info is not UNSET:
            field_dict["version_info"] = version_info
        if type_url is not UNSET:
            field_dict["type_url"] = type_url

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.resource_input import ResourceInput
        from ..models.resource_name import ResourceName

        d = dict(src_dict)
        _resources = d.pop("resources", UNSET)
        resources: list[ResourceInput] | Unset = UNSET
        if _resources is not UNSET:
            resources = []
            for resources_item_data in _resources:
                resources_item = ResourceInput.from_dict(resources_item_data)

                resources.append(resources_item)

        _delete = d.pop("delete", UNSET)
        delete: list[ResourceName] | Unset = UNSET
        if _delete is not UNSET:
            delete = []
            for delete_item_data in _delete:
                delete_item = ResourceName.from_dict(delete_item_data)

                delete.append(delete_item)

        message = d.pop("message", UNSET)

        expected_revision = d.pop("expected_revision", UNSET)

        plan = d.pop("plan", UNSET)

        confirm = d.pop("confirm", UNSET)

        version_info = d.pop("version_info", UNSET)

        type_url = d.pop("type_url", UNSET)

        apply_input = cls(
            resources=resources,
            delete=delete,
            message=message,
            expected_revision=expected_revision,
            plan=plan,
            confirm=confirm,
            version_info=version_info,
            type_url=type_url,
        )

        return apply_input
