from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.field_error import FieldError
    from ..models.resource_version import ResourceVersion
    from ..models.write_findings import WriteFindings


T = TypeVar("T", bound="WriteResult")


@_attrs_define
class WriteResult:
    revision: int
    """ The revision that the write made, or found where nothing changed. """
    changed: int
    """ How many resources changed; 0 means that there is no new revision. """
    committed_at: datetime.datetime
    resources: list[ResourceVersion]
    """ What the write names, in its order. A rollback names none of what it changes: the changes of its revision
    tell. """
    warnings: list[FieldError] | Unset = UNSET
    """ What was stored and does not do all that it seems to: `ttl_delta_only`, `ttl_without_effect` (see `ttl`),
    `unchecked` (content without a schema),
    `remote_code` (Envoy ACKs what needs it before it has fetched it), `absent` (what was to be deleted was not
    there),
    `secret_variant` (see docs/variants.md), `unsupported_by_nodes` (Envoys of the fleet are too old for it, see
    docs/envoy-versions.md);
    and `findings_unknown` where `findings` could not be told.
     """
    findings: WriteFindings | Unset = UNSET
    """ What is to be said of the fleet because of the write: of the resources that it names, whether it changed
    them or not, and of what names those that
    some nodes have no variant of any more. See docs/findings.md; `unreachable` is told by the fleet's findings
    alone.
     """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        revision = self.revision

        changed = self.changed

        committed_at = self.committed_at.isoformat()

        resources = []
        for resources_item_data in self.resources:
            resources_item = resources_item_data.to_dict()
            resources.append(resources_item)

        warnings: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.warnings, Unset):
            warnings = []
            for warnings_item_data in self.warnings:
                warnings_item = warnings_item_data.to_dict()
                warnings.append(warnings_item)

        findings: dict[str, Any] | Unset = UNSET
        if not isinstance(self.findings, Unset):
            findings = self.findings.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "revision": revision,
                "changed": changed,
                "committed_at": committed_at,
                "resources": resources,
            }
        )
        if warnings is not UNSET:
            field_dict["warnings"] = warnings
        if findings is not UNSET:
            field_dict["findings"] = findings

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.field_error import FieldError
        from ..models.resource_version import ResourceVersion
        from ..models.write_findings import WriteFindings

        d = dict(src_dict)
        revision = d.pop("revision")

        changed = d.pop("changed")

        committed_at = datetime.datetime.fromisoformat(d.pop("committed_at"))

        resources = []
        _resources = d.pop("resources")
        for resources_item_data in _resources:
            resources_item = ResourceVersion.from_dict(resources_item_data)

            resources.append(resources_item)

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

        write_result = cls(
            revision=revision,
            changed=changed,
            committed_at=committed_at,
            resources=resources,
            warnings=warnings,
            findings=findings,
        )

        write_result.additional_properties = d
        return write_result

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
