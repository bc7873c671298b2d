from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.lease import Lease
from ...models.lease_take import LeaseTake
from ...models.problem import Problem
from ...types import Response


def _get_kwargs(
    tenant: str,
    fleet: str,
    *,
    body: LeaseTake,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/leases".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Lease | Problem:
    if response.status_code == 201:
        response_201 = Lease.from_dict(response.json())

        return response_201

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

    if response.status_code == 503:
        response_503 = Problem.from_dict(response.json())

        return response_503

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Lease | Problem]:
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
    body: LeaseTake,
) -> Response[Lease | Problem]:
    """Take a lease for endpoints

     Endpoints that are put with its id are removed when it expires, or ends. Time does not run while the
    database cannot be reached.

    Args:
        tenant (str):
        fleet (str):
        body (LeaseTake):  Example: {'ttl': '30s'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Lease | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        body=body,
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
    body: LeaseTake,
) -> Lease | Problem | None:
    """Take a lease for endpoints

     Endpoints that are put with its id are removed when it expires, or ends. Time does not run while the
    database cannot be reached.

    Args:
        tenant (str):
        fleet (str):
        body (LeaseTake):  Example: {'ttl': '30s'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Lease | Problem
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    body: LeaseTake,
) -> Response[Lease | Problem]:
    """Take a lease for endpoints

     Endpoints that are put with its id are removed when it expires, or ends. Time does not run while the
    database cannot be reached.

    Args:
        tenant (str):
        fleet (str):
        body (LeaseTake):  Example: {'ttl': '30s'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Lease | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    body: LeaseTake,
) -> Lease | Problem | None:
    """Take a lease for endpoints

     Endpoints that are put with its id are removed when it expires, or ends. Time does not run while the
    database cannot be reached.

    Args:
        tenant (str):
        fleet (str):
        body (LeaseTake):  Example: {'ttl': '30s'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Lease | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            client=client,
            body=body,
        )
    ).parsed
