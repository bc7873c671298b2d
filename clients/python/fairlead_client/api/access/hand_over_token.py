from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.token import Token
from ...types import Response


def _get_kwargs(
    tenant: str,
    id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/tenants/{tenant}/tokens/{id}/hand-over".format(
            tenant=quote(str(tenant), safe=""),
            id=quote(str(id), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | Token:
    if response.status_code == 200:
        response_200 = Token.from_dict(response.json())

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
) -> Response[Problem | Token]:
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
) -> Response[Problem | Token]:
    """Let a token outlive the one that made it

     For owners and operators. From now on the token does not end when the one that made it is revoked;
    its own `expires_at` stays. The tokens
    that it made go on ending with it.

    Args:
        tenant (str):
        id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Token]
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
) -> Problem | Token | None:
    """Let a token outlive the one that made it

     For owners and operators. From now on the token does not end when the one that made it is revoked;
    its own `expires_at` stays. The tokens
    that it made go on ending with it.

    Args:
        tenant (str):
        id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Token
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
) -> Response[Problem | Token]:
    """Let a token outlive the one that made it

     For owners and operators. From now on the token does not end when the one that made it is revoked;
    its own `expires_at` stays. The tokens
    that it made go on ending with it.

    Args:
        tenant (str):
        id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Token]
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
) -> Problem | Token | None:
    """Let a token outlive the one that made it

     For owners and operators. From now on the token does not end when the one that made it is revoked;
    its own `expires_at` stays. The tokens
    that it made go on ending with it.

    Args:
        tenant (str):
        id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Token
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            id=id,
            client=client,
        )
    ).parsed
