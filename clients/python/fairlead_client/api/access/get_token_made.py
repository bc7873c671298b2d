from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.token_made import TokenMade
from ...types import Response


def _get_kwargs(
    tenant: str,
    id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/tokens/{id}/made".format(
            tenant=quote(str(tenant), safe=""),
            id=quote(str(id), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | TokenMade:
    if response.status_code == 200:
        response_200 = TokenMade.from_dict(response.json())

        return response_200

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Problem | TokenMade]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    tenant: str,
    id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Problem | TokenMade]:
    """Tell what an API token made

     What it made that is neither revoked nor expired, directly or through tokens that it made: what ends
    when it is revoked, and what stays
    unless it is revoked as `leaked`. Also of a token that has ended. Fleets that are deleted are left
    out.

    Args:
        tenant (str):
        id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | TokenMade]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        id=id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Problem | TokenMade | None:
    """Tell what an API token made

     What it made that is neither revoked nor expired, directly or through tokens that it made: what ends
    when it is revoked, and what stays
    unless it is revoked as `leaked`. Also of a token that has ended. Fleets that are deleted are left
    out.

    Args:
        tenant (str):
        id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | TokenMade
    """

    return sync_detailed(
        tenant=tenant,
        id=id,
        client=client,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Problem | TokenMade]:
    """Tell what an API token made

     What it made that is neither revoked nor expired, directly or through tokens that it made: what ends
    when it is revoked, and what stays
    unless it is revoked as `leaked`. Also of a token that has ended. Fleets that are deleted are left
    out.

    Args:
        tenant (str):
        id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | TokenMade]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        id=id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Problem | TokenMade | None:
    """Tell what an API token made

     What it made that is neither revoked nor expired, directly or through tokens that it made: what ends
    when it is revoked, and what stays
    unless it is revoked as `leaked`. Also of a token that has ended. Fleets that are deleted are left
    out.

    Args:
        tenant (str):
        id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | TokenMade
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            id=id,
            client=client,
        )
    ).parsed
