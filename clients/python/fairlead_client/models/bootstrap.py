from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.bootstrap_file import BootstrapFile


T = TypeVar("T", bound="Bootstrap")


@_attrs_define
class Bootstrap:
    files: list[BootstrapFile]
    """ The first is that which the client is started with. """
    notes: list[str]
    """ What is to be known beside them, for people. """

    def to_dict(self) -> dict[str, Any]:
        files = []
        for files_item_data in self.files:
            files_item = files_item_data.to_dict()
            files.append(files_item)

        notes = self.notes

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "files": files,
                "notes": notes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.bootstrap_file import BootstrapFile

        d = dict(src_dict)
        files = []
        _files = d.pop("files")
        for files_item_data in _files:
            files_item = BootstrapFile.from_dict(files_item_data)

            files.append(files_item)

        notes = cast(list[str], d.pop("notes"))

        bootstrap = cls(
            files=files,
            notes=notes,
        )

        return bootstrap
