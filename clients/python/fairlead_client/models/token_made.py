from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.made_credential import MadeCredential
    from ..models.token import Token


T = TypeVar("T", bound="TokenMade")


@_attrs_define
class TokenMade:
    token_count: int
    """ How many tokens it made. """
    staying_token_count: int
    """ How many of them do not end with it: they stand alone, or end with one that does. """
    tokens: list[Token]
    """ The newest ones, at most 100. """
    credential_count: int
    """ How many node credentials it made. """
    credentials: list[MadeCredential]
    """ The newest ones, at most 100. """
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        token_count = self.token_count

        staying_token_count = self.staying_token_count

        tokens = []
        for tokens_item_data in self.tokens:
            tokens_item = tokens_item_data.to_dict()
            tokens.append(tokens_item)

        credential_count = self.credential_count

        credentials = []
        for credentials_item_data in self.credentials:
            credentials_item = credentials_item_data.to_dict()
            credentials.append(credentials_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "token_count": token_count,
                "staying_token_count": staying_token_count,
                "tokens": tokens,
                "credential_count": credential_count,
                "credentials": credentials,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.made_credential import MadeCredential
        from ..models.token import Token

        d = dict(src_dict)
        token_count = d.pop("token_count")

        staying_token_count = d.pop("staying_token_count")

        tokens = []
        _tokens = d.pop("tokens")
        for tokens_item_data in _tokens:
            tokens_item = Token.from_dict(tokens_item_data)

            tokens.append(tokens_item)

        credential_count = d.pop("credential_count")

        credentials = []
        _credentials = d.pop("credentials")
        for credentials_item_data in _credentials:
            credentials_item = MadeCredential.from_dict(credentials_item_data)

            credentials.append(credentials_item)

        token_made = cls(
            token_count=token_count,
            staying_token_count=staying_token_count,
            tokens=tokens,
            credential_count=credential_count,
            credentials=credentials,
        )

        token_made.additional_properties = d
        return token_made

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
