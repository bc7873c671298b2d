from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.guard import Guard
from ...models.problem import Problem
from ...types import Response


def _get_kwargs() -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/guard",
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Guard | Problem:
    if response.status_code == 200:
        response_200 = Guard.from_dict(response.json())

        return response_200

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Guard | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
) -> Response[Guard | Problem]:
    """Tell the guard rules

     What makes a proxy run code, touch its machine or turn to somebody else is named by guard rules, and
    the role of a token decides whether it may write it. They are the installation's: the same
    for all tenants and fleets, until the server is started with other ones.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Guard | Problem]
    """

    kwargs = _get_kwargs()

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
) -> Guard | Problem | None:
    """Tell the guard rules

     What makes a proxy run code, touch its machine or turn to somebody else is named by guard rules, and
    the role of a token decides whether it may write it. They are the installation's: the same
    for all tenants and fleets, until the server is started with other ones.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Guard | Problem
    """

    return sync_detailed(
        client=client,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
) -> Response[Guard | Problem]:
    """Tell the guard rules

     What makes a proxy run code, touch its machine or turn to somebody else is named by guard rules, and
    the role of a token decides whether it may write it. They are the installation's: the same
    for all tenants and fleets, until the server is started with other ones.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Guard | Problem]
    """

    kwargs = _get_kwargs()

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
) -> Guard | Problem | None:
    """Tell the guard rules

     What makes a proxy run code, touch its machine or turn to somebody else is named by guard rules, and
    the role of a token decides whether it may write it. They are the installation's: the same
    for all tenants and fleets, until the server is started with other ones.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Guard | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
        )
    ).parsed
