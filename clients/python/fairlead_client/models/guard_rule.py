from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.role import Role

T = TypeVar("T", bound="GuardRule")


@_attrs_define
class GuardRule:
    rule: str
    """ Its name, which grows with new rules. """
    code: str
    """ The code of a fault by which a write is refused (`guarded`). """
    covers: str
    """ What it names, for people. """
    reason: str
    """ Why, as a refusal says it: the first half of a sentence. """
    roles: list[Role]
    """ The roles whose tokens may write it, from the least one up. Empty: nobody, not even the owner. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        rule = self.rule

        code = self.code

        covers = self.covers

        reason = self.reason

        roles = []
        for roles_item_data in self.roles:
            roles_item = roles_item_data.value
            roles.append(roles_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "rule": rule,
                "code": code,
                "covers": covers,
                "reason": reason,
                "roles": roles,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        rule = d.pop("rule")

        code = d.pop("code")

        covers = d.pop("covers")

        reason = d.pop("reason")

        roles = []
        _roles = d.pop("roles")
        for roles_item_data in _roles:
            roles_item = Role(roles_item_data)

            roles.append(roles_item)

        guard_rule = cls(
            rule=rule,
            code=code,
            covers=covers,
            reason=reason,
            roles=roles,
        )

        guard_rule.additional_properties = d
        return guard_rule

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
