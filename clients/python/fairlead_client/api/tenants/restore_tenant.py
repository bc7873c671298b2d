from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.tenant import Tenant
from ...types import Response


def _get_kwargs(
    tenant: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/tenants/{tenant}/restore".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | Tenant:
    if response.status_code == 200:
        response_200 = Tenant.from_dict(response.json())

        return response_200

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

    if response.status_code == 409:
        response_409 = Problem.from_dict(response.json())

        return response_409

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Problem | Tenant]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Problem | Tenant]:
    """Take back the deletion of a tenant

     For operators, within 30 days. The tenant is what it was, with the fleets that were deleted with it;
    those that were deleted before are restored one by one. Its tokens and the
    credentials of its nodes work again; those that expired meanwhile do not. A server that has refused
    one of them goes on to for a minute at most.

    Args:
        tenant (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Tenant]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
) -> Problem | Tenant | None:
    """Take back the deletion of a tenant

     For operators, within 30 days. The tenant is what it was, with the fleets that were deleted with it;
    those that were deleted before are restored one by one. Its tokens and the
    credentials of its nodes work again; those that expired meanwhile do not. A server that has refused
    one of them goes on to for a minute at most.

    Args:
        tenant (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Tenant
    """

    return sync_detailed(
        tenant=tenant,
        client=client,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Problem | Tenant]:
    """Take back the deletion of a tenant

     For operators, within 30 days. The tenant is what it was, with the fleets that were deleted with it;
    those that were deleted before are restored one by one. Its tokens and the
    credentials of its nodes work again; those that expired meanwhile do not. A server that has refused
    one of them goes on to for a minute at most.

    Args:
        tenant (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Tenant]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
) -> Problem | Tenant | None:
    """Take back the deletion of a tenant

     For operators, within 30 days. The tenant is what it was, with the fleets that were deleted with it;
    those that were deleted before are restored one by one. Its tokens and the
    credentials of its nodes work again; those that expired meanwhile do not. A server that has refused
    one of them goes on to for a minute at most.

    Args:
        tenant (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Tenant
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            client=client,
        )
    ).parsed
