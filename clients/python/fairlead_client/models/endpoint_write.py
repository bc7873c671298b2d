from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.endpoint_put import EndpointPut


T = TypeVar("T", bound="EndpointWrite")


@_attrs_define
class EndpointWrite:
    """
    Example:
        {'set': [{'address': '10.0.0.7:8080'}], 'remove': ['10.0.0.6:8080']}

    """

    set_: list[EndpointPut] | Unset = UNSET
    """ Endpoints as they are to be, no address twice. """
    remove: list[str] | Unset = UNSET
    """ Addresses, in whatever locality; none that is in `set`. """

    def to_dict(self) -> dict[str, Any]:
        set_: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.set_, Unset):
            set_ = []
            for set_item_data in self.set_:
                set_item = set_item_data.to_dict()
                set_.append(set_item)

        remove: list[str] | Unset = UNSET
        if not isinstance(self.remove, Unset):
            remove = self.remove

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if set_ is not UNSET:
            field_dict["set"] = set_
        if remove is not UNSET:
            field_dict["remove"] = remove

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.endpoint_put import EndpointPut

        d = dict(src_dict)
        _set_ = d.pop("set", UNSET)
        set_: list[EndpointPut] | Unset = UNSET
        if _set_ is not UNSET:
            set_ = []
            for set_item_data in _set_:
                set_item = EndpointPut.from_dict(set_item_data)

                set_.append(set_item)

        remove = cast(list[str], d.pop("remove", UNSET))

        endpoint_write = cls(
            set_=set_,
            remove=remove,
        )

        return endpoint_write
