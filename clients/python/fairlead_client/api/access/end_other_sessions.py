from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.sessions_ended import SessionsEnded
from ...types import Response


def _get_kwargs() -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/session/end-others",
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | SessionsEnded:
    if response.status_code == 200:
        response_200 = SessionsEnded.from_dict(response.json())

        return response_200

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Problem | SessionsEnded]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
) -> Response[Problem | SessionsEnded]:
    """End all other sessions of the caller's token

     All that are open of the token but the one whose cookie came, on every server: their next requests
    are refused, and what they listen to ends within 5 seconds. A caller that
    came with a token has none to keep: all end. The token stays valid: who has it can begin another
    session.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | SessionsEnded]
    """

    kwargs = _get_kwargs()

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
) -> Problem | SessionsEnded | None:
    """End all other sessions of the caller's token

     All that are open of the token but the one whose cookie came, on every server: their next requests
    are refused, and what they listen to ends within 5 seconds. A caller that
    came with a token has none to keep: all end. The token stays valid: who has it can begin another
    session.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | SessionsEnded
    """

    return sync_detailed(
        client=client,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
) -> Response[Problem | SessionsEnded]:
    """End all other sessions of the caller's token

     All that are open of the token but the one whose cookie came, on every server: their next requests
    are refused, and what they listen to ends within 5 seconds. A caller that
    came with a token has none to keep: all end. The token stays valid: who has it can begin another
    session.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | SessionsEnded]
    """

    kwargs = _get_kwargs()

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
) -> Problem | SessionsEnded | None:
    """End all other sessions of the caller's token

     All that are open of the token but the one whose cookie came, on every server: their next requests
    are refused, and what they listen to ends within 5 seconds. A caller that
    came with a token has none to keep: all end. The token stays valid: who has it can begin another
    session.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | SessionsEnded
    """

    return (
        await asyncio_detailed(
            client=client,
        )
    ).parsed
