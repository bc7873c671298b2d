from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.lease import Lease
from ...models.problem import Problem
from ...types import Response


def _get_kwargs(
    tenant: str,
    fleet: str,
    id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/leases/{id}".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
            id=quote(str(id), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Lease | Problem:
    if response.status_code == 200:
        response_200 = Lease.from_dict(response.json())

        return response_200

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

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
    id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Lease | Problem]:
    """Renew a lease

     It has its whole time again. Of one that has expired it is 404: take another one, and put the
    endpoints again. A renewal makes no revision, and counts as a read.

    Args:
        tenant (str):
        fleet (str):
        id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Lease | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        id=id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    fleet: str,
    id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Lease | Problem | None:
    """Renew a lease

     It has its whole time again. Of one that has expired it is 404: take another one, and put the
    endpoints again. A renewal makes no revision, and counts as a read.

    Args:
        tenant (str):
        fleet (str):
        id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Lease | Problem
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        id=id,
        client=client,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Lease | Problem]:
    """Renew a lease

     It has its whole time again. Of one that has expired it is 404: take another one, and put the
    endpoints again. A renewal makes no revision, and counts as a read.

    Args:
        tenant (str):
        fleet (str):
        id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Lease | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        id=id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Lease | Problem | None:
    """Renew a lease

     It has its whole time again. Of one that has expired it is 404: take another one, and put the
    endpoints again. A renewal makes no revision, and counts as a read.

    Args:
        tenant (str):
        fleet (str):
        id (str):

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
            id=id,
            client=client,
        )
    ).parsed
