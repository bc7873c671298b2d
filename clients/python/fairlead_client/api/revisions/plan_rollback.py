from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.plan import Plan
from ...models.problem import Problem
from ...models.rollback_request import RollbackRequest
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    *,
    body: RollbackRequest,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    params: dict[str, Any] = {}

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/rollback/plan".format(
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

    if response.status_code == 410:
        response_410 = Problem.from_dict(response.json())

        return response_410

    if response.status_code == 412:
        response_412 = Problem.from_dict(response.json())

        return response_412

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
    body: RollbackRequest,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[Plan | Problem]:
    """Tell what a rollback would do

     Takes what `rollback` takes, asks what it asks, and writes nothing. The answer is that of a plan:
    every resource that would change, with the difference of the
    canonical documents, the findings, whom it reaches, and why somebody is to confirm it. `limit` and
    `cursor` are those of the ids of its `reach`.

    The answer's `token`, in the rollback's `plan`, makes sure that what is rolled back is what was
    planned; as `confirm` it confirms it too.

    Args:
        tenant (str):
        fleet (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        body (RollbackRequest):  Example: {'revision': 5, 'message': 'the new route answers 404'}.

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
    body: RollbackRequest,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Plan | Problem | None:
    """Tell what a rollback would do

     Takes what `rollback` takes, asks what it asks, and writes nothing. The answer is that of a plan:
    every resource that would change, with the difference of the
    canonical documents, the findings, whom it reaches, and why somebody is to confirm it. `limit` and
    `cursor` are those of the ids of its `reach`.

    The answer's `token`, in the rollback's `plan`, makes sure that what is rolled back is what was
    planned; as `confirm` it confirms it too.

    Args:
        tenant (str):
        fleet (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        body (RollbackRequest):  Example: {'revision': 5, 'message': 'the new route answers 404'}.

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
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    body: RollbackRequest,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[Plan | Problem]:
    """Tell what a rollback would do

     Takes what `rollback` takes, asks what it asks, and writes nothing. The answer is that of a plan:
    every resource that would change, with the difference of the
    canonical documents, the findings, whom it reaches, and why somebody is to confirm it. `limit` and
    `cursor` are those of the ids of its `reach`.

    The answer's `token`, in the rollback's `plan`, makes sure that what is rolled back is what was
    planned; as `confirm` it confirms it too.

    Args:
        tenant (str):
        fleet (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        body (RollbackRequest):  Example: {'revision': 5, 'message': 'the new route answers 404'}.

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
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    body: RollbackRequest,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Plan | Problem | None:
    """Tell what a rollback would do

     Takes what `rollback` takes, asks what it asks, and writes nothing. The answer is that of a plan:
    every resource that would change, with the difference of the
    canonical documents, the findings, whom it reaches, and why somebody is to confirm it. `limit` and
    `cursor` are those of the ids of its `reach`.

    The answer's `token`, in the rollback's `plan`, makes sure that what is rolled back is what was
    planned; as `confirm` it confirms it too.

    Args:
        tenant (str):
        fleet (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        body (RollbackRequest):  Example: {'revision': 5, 'message': 'the new route answers 404'}.

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
        )
    ).parsed
