from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.server_list import ServerList
from ...models.server_state import ServerState
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    state: ServerState | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_state: str | Unset = UNSET
    if not isinstance(state, Unset):
        json_state = state.value

    params["state"] = json_state

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/operator/servers",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | ServerList:
    if response.status_code == 200:
        response_200 = ServerList.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Problem | ServerList]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    state: ServerState | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[Problem | ServerList]:
    """List the xDS servers

     For operators. Every xDS server tells every 2 seconds that it lives, and what it does. One of which
    nothing was heard for 6 seconds, or that has stopped, is `gone`; it stays in the list for a
    day at most. A server that starts again is another one.

    Args:
        state (ServerState | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | ServerList]
    """

    kwargs = _get_kwargs(
        state=state,
        limit=limit,
        cursor=cursor,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    state: ServerState | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Problem | ServerList | None:
    """List the xDS servers

     For operators. Every xDS server tells every 2 seconds that it lives, and what it does. One of which
    nothing was heard for 6 seconds, or that has stopped, is `gone`; it stays in the list for a
    day at most. A server that starts again is another one.

    Args:
        state (ServerState | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | ServerList
    """

    return sync_detailed(
        client=client,
        state=state,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    state: ServerState | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[Problem | ServerList]:
    """List the xDS servers

     For operators. Every xDS server tells every 2 seconds that it lives, and what it does. One of which
    nothing was heard for 6 seconds, or that has stopped, is `gone`; it stays in the list for a
    day at most. A server that starts again is another one.

    Args:
        state (ServerState | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | ServerList]
    """

    kwargs = _get_kwargs(
        state=state,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    state: ServerState | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Problem | ServerList | None:
    """List the xDS servers

     For operators. Every xDS server tells every 2 seconds that it lives, and what it does. One of which
    nothing was heard for 6 seconds, or that has stopped, is `gone`; it stays in the list for a
    day at most. A server that starts again is another one.

    Args:
        state (ServerState | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | ServerList
    """

    return (
        await asyncio_detailed(
            client=client,
            state=state,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
