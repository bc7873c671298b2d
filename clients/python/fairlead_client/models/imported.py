from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.import_note import ImportNote
    from ..models.imported_resource import ImportedResource


T = TypeVar("T", bound="Imported")


@_attrs_define
class Imported:
    resources: list[ImportedResource]
    """ Documents, as an apply takes them. """
    left_out: list[ImportNote]
    """ What is lost unless something is done. """
    notes: list[ImportNote]
    """ What is not in the documents, or is other there, and not lost. """

    def to_dict(self) -> dict[str, Any]:
        resources = []
        for resources_item_data in self.resources:
            resources_item = resources_item_data.to_dict()
            resources.append(resources_item)

        left_out = []
        for left_out_item_data in self.left_out:
            left_out_item = left_out_item_data.to_dict()
            left_out.append(left_out_item)

        notes = []
        for notes_item_data in self.notes:
            notes_item = notes_item_data.to_dict()
            notes.append(notes_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "resources": resources,
                "left_out": left_out,
                "notes": notes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.import_note import ImportNote
        from ..models.imported_resource import ImportedResource

        d = dict(src_dict)
        resources = []
        _resources = d.pop("resources")
        for resources_item_data in _resources:
            resources_item = ImportedResource.from_dict(resources_item_data)

            resources.append(resources_item)

        left_out = []
        _left_out = d.pop("left_out")
        for left_out_item_data in _left_out:
            left_out_item = ImportNote.from_dict(left_out_item_data)

            left_out.append(left_out_item)

        notes = []
        _notes = d.pop("notes")
        for notes_item_data in _notes:
            notes_item = ImportNote.from_dict(notes_item_data)

            notes.append(notes_item)

        imported = cls(
            resources=resources,
            left_out=left_out,
            notes=notes,
        )

        return imported
