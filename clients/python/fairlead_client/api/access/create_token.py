from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.token_create import TokenCreate
from ...models.token_created import TokenCreated
from ...types import Response


def _get_kwargs(
    tenant: str,
    *,
    body: TokenCreate,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/tenants/{tenant}/tokens".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | TokenCreated:
    if response.status_code == 201:
        response_201 = TokenCreated.from_dict(response.json())

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

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Problem | TokenCreated]:
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
    body: TokenCreate,
) -> Response[Problem | TokenCreated]:
    """Create an API token

     The answer shows the token, this once. Nobody can create a token of a higher role than their own.
    The new token ends with the one that
    made it: when that expires at the latest, and when it is revoked. One that an operator made, or an
    owner as `handed_over`, stands alone.

    Args:
        tenant (str):
        body (TokenCreate):  Example: {'name': 'deploy pipeline', 'role': 'ci', 'fleet': 'edge'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | TokenCreated]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    body: TokenCreate,
) -> Problem | TokenCreated | None:
    """Create an API token

     The answer shows the token, this once. Nobody can create a token of a higher role than their own.
    The new token ends with the one that
    made it: when that expires at the latest, and when it is revoked. One that an operator made, or an
    owner as `handed_over`, stands alone.

    Args:
        tenant (str):
        body (TokenCreate):  Example: {'name': 'deploy pipeline', 'role': 'ci', 'fleet': 'edge'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | TokenCreated
    """

    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    body: TokenCreate,
) -> Response[Problem | TokenCreated]:
    """Create an API token

     The answer shows the token, this once. Nobody can create a token of a higher role than their own.
    The new token ends with the one that
    made it: when that expires at the latest, and when it is revoked. One that an operator made, or an
    owner as `handed_over`, stands alone.

    Args:
        tenant (str):
        body (TokenCreate):  Example: {'name': 'deploy pipeline', 'role': 'ci', 'fleet': 'edge'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | TokenCreated]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    body: TokenCreate,
) -> Problem | TokenCreated | None:
    """Create an API token

     The answer shows the token, this once. Nobody can create a token of a higher role than their own.
    The new token ends with the one that
    made it: when that expires at the latest, and when it is revoked. One that an operator made, or an
    owner as `handed_over`, stands alone.

    Args:
        tenant (str):
        body (TokenCreate):  Example: {'name': 'deploy pipeline', 'role': 'ci', 'fleet': 'edge'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | TokenCreated
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            client=client,
            body=body,
        )
    ).parsed
