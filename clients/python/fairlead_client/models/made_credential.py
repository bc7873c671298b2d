from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.credential import Credential


T = TypeVar("T", bound="MadeCredential")


@_attrs_define
class MadeCredential:
    fleet: str
    """ The fleet that it is for. """
    credential: Credential
    """ A node credential. One that an older server made has no `made_by`, which was not noted then. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        fleet = self.fleet

        credential = self.credential.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "fleet": fleet,
                "credential": credential,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.credential import Credential

        d = dict(src_dict)
        fleet = d.pop("fleet")

        credential = Credential.from_dict(d.pop("credential"))

        made_credential = cls(
            fleet=fleet,
            credential=credential,
        )

        made_credential.additional_properties = d
        return made_credential

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
