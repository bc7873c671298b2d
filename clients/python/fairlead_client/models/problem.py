from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.limit_name import LimitName
from ..models.missing import Missing
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.confirm_reason import ConfirmReason
    from ..models.field_error import FieldError
    from ..models.revision import Revision


T = TypeVar("T", bound="Problem")


@_attrs_define
class Problem:
    """An error, after RFC 9457."""

    type_: str
    """ Always `about:blank`: `code` tells the kind. """
    title: str
    """ The status in words. """
    status: int
    code: str
    """ A stable word for programs. """
    request_id: str
    """ Names this request, also in the server's log. """
    detail: str | Unset = UNSET
    """ One sentence for a person. It can change; `code` does not. """
    instance: str | Unset = UNSET
    """ The path of the request. """
    what: LimitName | Unset = UNSET
    """ Of the tenant: `fleets`, `deleted_fleets` (whose data is still kept), `tokens` (neither revoked nor
    expired), `audit_days` (for how many days the events of its audit are
    kept, 30 to 36500), `audit_bytes` (what they come to; at the limit nothing is written, at twice the limit
    nothing is deleted and nobody signs in), `idempotency_bytes` (of
    the answers that are kept for repeats; the oldest are dropped, and at twice the limit requests with an
    `Idempotency-Key` are refused until then).
    Of each fleet: `credentials` (neither revoked nor expired), `resources` (variants count), `fleet_bytes` (bodies,
    names, variants, selectors,
    labels and descriptions; a body that two resources share counts twice), `history_bytes` (the same of all kept
    revisions, and 256 for each resource that
    a revision changed; the oldest are dropped, and at twice the limit writes are refused until then), `event_bytes`
    and `refusal_bytes` (the oldest are dropped, which is an event).
    Of the tenant, and of each token, in one API server: `waiting_polls`, `writes_per_minute` and
    `reads_per_minute`, `token_...`.
     """
    limit: int | Unset = UNSET
    """ With `what`: the limit. """
    used: int | Unset = UNSET
    """ With `what`: how much of it is used now, without this request. """
    newest: Revision | Unset = UNSET
    missing: Missing | Unset = UNSET
    """ With 404, what is not there, or not the caller's; `detail` names it. `path`: the API has no such path.
     """
    confirm: list[ConfirmReason] | Unset = UNSET
    """ With 428, why somebody is to confirm this. """
    token: str | Unset = UNSET
    """ With 428, what confirms the request when it is sent again. """
    errors: list[FieldError] | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        title = self.title

        status = self.status

        code = self.code

        request_id = self.request_id

        detail = self.detail

        instance = self.instance

        what: str | Unset = UNSET
        if not isinstance(self.what, Unset):
            what = self.what.value

        limit = self.limit

        used = self.used

        newest: dict[str, Any] | Unset = UNSET
        if not isinstance(self.newest, Unset):
            newest = self.newest.to_dict()

        missing: str | Unset = UNSET
        if not isinstance(self.missing, Unset):
            missing = self.missing.value

        confirm: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.confirm, Unset):
            confirm = []
            for confirm_item_data in self.confirm:
                confirm_item = confirm_item_data.to_dict()
                confirm.append(confirm_item)

        token = self.token

        errors: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.errors, Unset):
            errors = []
            for errors_item_data in self.errors:
                errors_item = errors_item_data.to_dict()
                errors.append(errors_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "type": type_,
                "title": title,
                "status": status,
                "code": code,
                "request_id": request_id,
            }
        )
        if detail is not UNSET:
            field_dict["detail"] = detail
        if instance is not UNSET:
            field_dict["instance"] = instance
        if what is not UNSET:
            field_dict["what"] = what
        if limit is not UNSET:
            field_dict["limit"] = limit
        if used is not UNSET:
            field_dict["used"] = used
        if newest is not UNSET:
            field_dict["newest"] = newest
        if missing is not UNSET:
            field_dict["missing"] = missing
        if confirm is not UNSET:
            field_dict["confirm"] = confirm
        if token is not UNSET:
            field_dict["token"] = token
        if errors is not UNSET:
            field_dict["errors"] = errors

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.confirm_reason import ConfirmReason
        from ..models.field_error import FieldError
        from ..models.revision import Revision

        d = dict(src_dict)
        type_ = d.pop("type")

        title = d.pop("title")

        status = d.pop("status")

        code = d.pop("code")

        request_id = d.pop("request_id")

        detail = d.pop("detail", UNSET)

        instance = d.pop("instance", UNSET)

        _what = d.pop("what", UNSET)
        what: LimitName | Unset
        if isinstance(_what, Unset):
            what = UNSET
        else:
            what = LimitName(_what)

        limit = d.pop("limit", UNSET)

        used = d.pop("used", UNSET)

        _newest = d.pop("newest", UNSET)
        newest: Revision | Unset
        if isinstance(_newest, Unset):
            newest = UNSET
        else:
            newest = Revision.from_dict(_newest)

        _missing = d.pop("missing", UNSET)
        missing: Missing | Unset
        if isinstance(_missing, Unset):
            missing = UNSET
        else:
            missing = Missing(_missing)

        _confirm = d.pop("confirm", UNSET)
        confirm: list[ConfirmReason] | Unset = UNSET
        if _confirm is not UNSET:
            confirm = []
            for confirm_item_data in _confirm:
                confirm_item = ConfirmReason.from_dict(confirm_item_data)

                confirm.append(confirm_item)

        token = d.pop("token", UNSET)

        _errors = d.pop("errors", UNSET)
        errors: list[FieldError] | Unset = UNSET
        if _errors is not UNSET:
            errors = []
            for errors_item_data in _errors:
                errors_item = FieldError.from_dict(errors_item_data)

                errors.append(errors_item)

        problem = cls(
            type_=type_,
            title=title,
            status=status,
            code=code,
            request_id=request_id,
            detail=detail,
            instance=instance,
            what=what,
            limit=limit,
            used=used,
            newest=newest,
            missing=missing,
            confirm=confirm,
            token=token,
            errors=errors,
        )

        problem.additional_properties = d
        return problem

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
