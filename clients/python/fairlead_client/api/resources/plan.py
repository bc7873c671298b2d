from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.apply_input import ApplyInput
from ...models.plan import Plan
from ...models.plan_references import PlanReferences
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    *,
    body: ApplyInput,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    references: PlanReferences | Unset = PlanReferences.CHECKED,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    params: dict[str, Any] = {}

    params["limit"] = limit

    params["cursor"] = cursor

    json_references: str | Unset = UNSET
    if not isinstance(references, Unset):
        json_references = references.value

    params["references"] = json_references

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/plan".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Plan | Problem:
    if response.status_code == 200:
        response_200 = Plan.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

    if response.status_code == 409:
        response_409 = Problem.from_dict(response.json())

        return response_409

    if response.status_code == 412:
        response_412 = Problem.from_dict(response.json())

        return response_412

    if response.status_code == 413:
        response_413 = Problem.from_dict(response.json())

        return response_413

    if response.status_code == 415:
        response_415 = Problem.from_dict(response.json())

        return response_415

    if response.status_code == 422:
        response_422 = Problem.from_dict(response.json())

        return response_422

    if response.status_code == 503:
        response_503 = Problem.from_dict(response.json())

        return response_503

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Plan | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    body: ApplyInput,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    references: PlanReferences | Unset = PlanReferences.CHECKED,
) -> Response[Plan | Problem]:
    """Tell what an apply would do

     Takes what `apply` takes, asks what it asks, and writes nothing: what can be planned can be applied
    by the same token. It is refused as the apply would
    be, warnings included, and tells of every resource that is named what would become of it, with the
    difference of the canonical documents: defaults
    and the order of fields do not show. What `get` does not show does not stand in a difference either.

    `reach` tells which nodes would get something else than they have; `limit` and `cursor` are those of
    its list of ids.

    The answer's `token`, in the apply's `plan`, makes sure that what is applied is what was planned.
    See docs/plan.md.

    Of a secret it says that it would become another one, and nothing of what was sent. After ten
    contents that differ from a secret within an hour another one is refused with
    `429 too_many_comparisons`, of a plan and a write alike: docs/secrets.md.

    Args:
        tenant (str):
        fleet (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        references (PlanReferences | Unset):  Default: PlanReferences.CHECKED.
        body (ApplyInput): Documents to write and resources to delete, as one revision; at least
            one of the two lists.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Plan | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        body=body,
        limit=limit,
        cursor=cursor,
        references=references,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    body: ApplyInput,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    references: PlanReferences | Unset = PlanReferences.CHECKED,
) -> Plan | Problem | None:
    """Tell what an apply would do

     Takes what `apply` takes, asks what it asks, and writes nothing: what can be planned can be applied
    by the same token. It is refused as the apply would
    be, warnings included, and tells of every resource that is named what would become of it, with the
    difference of the canonical documents: defaults
    and the order of fields do not show. What `get` does not show does not stand in a difference either.

    `reach` tells which nodes would get something else than they have; `limit` and `cursor` are those of
    its list of ids.

    The answer's `token`, in the apply's `plan`, makes sure that what is applied is what was planned.
    See docs/plan.md.

    Of a secret it says that it would become another one, and nothing of what was sent. After ten
    contents that differ from a secret within an hour another one is refused with
    `429 too_many_comparisons`, of a plan and a write alike: docs/secrets.md.

    Args:
        tenant (str):
        fleet (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        references (PlanReferences | Unset):  Default: PlanReferences.CHECKED.
        body (ApplyInput): Documents to write and resources to delete, as one revision; at least
            one of the two lists.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Plan | Problem
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        client=client,
        body=body,
        limit=limit,
        cursor=cursor,
        references=references,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    body: ApplyInput,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    references: PlanReferences | Unset = PlanReferences.CHECKED,
) -> Response[Plan | Problem]:
    """Tell what an apply would do

     Takes what `apply` takes, asks what it asks, and writes nothing: what can be planned can be applied
    by the same token. It is refused as the apply would
    be, warnings included, and tells of every resource that is named what would become of it, with the
    difference of the canonical documents: defaults
    and the order of fields do not show. What `get` does not show does not stand in a difference either.

    `reach` tells which nodes would get something else than they have; `limit` and `cursor` are those of
    its list of ids.

    The answer's `token`, in the apply's `plan`, makes sure that what is applied is what was planned.
    See docs/plan.md.

    Of a secret it says that it would become another one, and nothing of what was sent. After ten
    contents that differ from a secret within an hour another one is refused with
    `429 too_many_comparisons`, of a plan and a write alike: docs/secrets.md.

    Args:
        tenant (str):
        fleet (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        references (PlanReferences | Unset):  Default: PlanReferences.CHECKED.
        body (ApplyInput): Documents to write and resources to delete, as one revision; at least
            one of the two lists.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Plan | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        body=body,
        limit=limit,
        cursor=cursor,
        references=references,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    body: ApplyInput,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    references: PlanReferences | Unset = PlanReferences.CHECKED,
) -> Plan | Problem | None:
    """Tell what an apply would do

     Takes what `apply` takes, asks what it asks, and writes nothing: what can be planned can be applied
    by the same token. It is refused as the apply would
    be, warnings included, and tells of every resource that is named what would become of it, with the
    difference of the canonical documents: defaults
    and the order of fields do not show. What `get` does not show does not stand in a difference either.

    `reach` tells which nodes would get something else than they have; `limit` and `cursor` are those of
    its list of ids.

    The answer's `token`, in the apply's `plan`, makes sure that what is applied is what was planned.
    See docs/plan.md.

    Of a secret it says that it would become another one, and nothing of what was sent. After ten
    contents that differ from a secret within an hour another one is refused with
    `429 too_many_comparisons`, of a plan and a write alike: docs/secrets.md.

    Args:
        tenant (str):
        fleet (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        references (PlanReferences | Unset):  Default: PlanReferences.CHECKED.
        body (ApplyInput): Documents to write and resources to delete, as one revision; at least
            one of the two lists.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Plan | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            client=client,
            body=body,
            limit=limit,
            cursor=cursor,
            references=references,
        )
    ).parsed
