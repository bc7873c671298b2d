from http import HTTPStatus
from typing import Any

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.tenant_live_news import TenantLiveNews
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    after: str | Unset = UNSET,
    wait: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(last_event_id, Unset):
        headers["Last-Event-ID"] = last_event_id

    params: dict[str, Any] = {}

    params["after"] = after

    params["wait"] = wait

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/live",
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | TenantLiveNews:
    if response.status_code == 200:
        response_200 = TenantLiveNews.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Problem | TenantLiveNews]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    wait: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> Response[Problem | TenantLiveNews]:
    """Tell when something of any of the caller's fleets has changed

     For a page of no single fleet. As that of a fleet (`GET .../fleets/{fleet}/live`), for all fleets of
    the caller's tenant, or the one that its token is bound to: it says that there is something to look
    at
    again, and never what it is now.

    With `Accept: text/event-stream`: a stream of server-sent events, each `data: {"what": ["nodes",
    ...], "fleets": ["edge", ...]}`, at most one in a second, with its place as `id`. It tells what
    changes once it has begun: begin it, then read. A client that connects again with `Last-Event-ID`,
    at whichever server, is told what changed meanwhile, and not of which fleets.
    An event `heartbeat` with an empty `what` comes first, and every 5 s where nothing changes, so that
    a client knows by its silence that the stream is dead. The stream ends when the token or the session
    does (within some seconds), when the server stops, and when its client does not
    read. Else one answer: what changed after a place, and with `wait` as soon as something does. A
    stream and a wait count as a request that waits.

    To an operator it tells nothing but that it goes on: it is there to be told of the end of the
    session.

    However many follow, a server asks the database once in a second for all tenants that somebody
    follows, with some look-ups for each of their fleets.

    Args:
        after (str | Unset):
        wait (str | Unset):
        last_event_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | TenantLiveNews]
    """

    kwargs = _get_kwargs(
        after=after,
        wait=wait,
        last_event_id=last_event_id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    wait: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> Problem | TenantLiveNews | None:
    """Tell when something of any of the caller's fleets has changed

     For a page of no single fleet. As that of a fleet (`GET .../fleets/{fleet}/live`), for all fleets of
    the caller's tenant, or the one that its token is bound to: it says that there is something to look
    at
    again, and never what it is now.

    With `Accept: text/event-stream`: a stream of server-sent events, each `data: {"what": ["nodes",
    ...], "fleets": ["edge", ...]}`, at most one in a second, with its place as `id`. It tells what
    changes once it has begun: begin it, then read. A client that connects again with `Last-Event-ID`,
    at whichever server, is told what changed meanwhile, and not of which fleets.
    An event `heartbeat` with an empty `what` comes first, and every 5 s where nothing changes, so that
    a client knows by its silence that the stream is dead. The stream ends when the token or the session
    does (within some seconds), when the server stops, and when its client does not
    read. Else one answer: what changed after a place, and with `wait` as soon as something does. A
    stream and a wait count as a request that waits.

    To an operator it tells nothing but that it goes on: it is there to be told of the end of the
    session.

    However many follow, a server asks the database once in a second for all tenants that somebody
    follows, with some look-ups for each of their fleets.

    Args:
        after (str | Unset):
        wait (str | Unset):
        last_event_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | TenantLiveNews
    """

    return sync_detailed(
        client=client,
        after=after,
        wait=wait,
        last_event_id=last_event_id,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    wait: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> Response[Problem | TenantLiveNews]:
    """Tell when something of any of the caller's fleets has changed

     For a page of no single fleet. As that of a fleet (`GET .../fleets/{fleet}/live`), for all fleets of
    the caller's tenant, or the one that its token is bound to: it says that there is something to look
    at
    again, and never what it is now.

    With `Accept: text/event-stream`: a stream of server-sent events, each `data: {"what": ["nodes",
    ...], "fleets": ["edge", ...]}`, at most one in a second, with its place as `id`. It tells what
    changes once it has begun: begin it, then read. A client that connects again with `Last-Event-ID`,
    at whichever server, is told what changed meanwhile, and not of which fleets.
    An event `heartbeat` with an empty `what` comes first, and every 5 s where nothing changes, so that
    a client knows by its silence that the stream is dead. The stream ends when the token or the session
    does (within some seconds), when the server stops, and when its client does not
    read. Else one answer: what changed after a place, and with `wait` as soon as something does. A
    stream and a wait count as a request that waits.

    To an operator it tells nothing but that it goes on: it is there to be told of the end of the
    session.

    However many follow, a server asks the database once in a second for all tenants that somebody
    follows, with some look-ups for each of their fleets.

    Args:
        after (str | Unset):
        wait (str | Unset):
        last_event_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | TenantLiveNews]
    """

    kwargs = _get_kwargs(
        after=after,
        wait=wait,
        last_event_id=last_event_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    wait: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> Problem | TenantLiveNews | None:
    """Tell when something of any of the caller's fleets has changed

     For a page of no single fleet. As that of a fleet (`GET .../fleets/{fleet}/live`), for all fleets of
    the caller's tenant, or the one that its token is bound to: it says that there is something to look
    at
    again, and never what it is now.

    With `Accept: text/event-stream`: a stream of server-sent events, each `data: {"what": ["nodes",
    ...], "fleets": ["edge", ...]}`, at most one in a second, with its place as `id`. It tells what
    changes once it has begun: begin it, then read. A client that connects again with `Last-Event-ID`,
    at whichever server, is told what changed meanwhile, and not of which fleets.
    An event `heartbeat` with an empty `what` comes first, and every 5 s where nothing changes, so that
    a client knows by its silence that the stream is dead. The stream ends when the token or the session
    does (within some seconds), when the server stops, and when its client does not
    read. Else one answer: what changed after a place, and with `wait` as soon as something does. A
    stream and a wait count as a request that waits.

    To an operator it tells nothing but that it goes on: it is there to be told of the end of the
    session.

    However many follow, a server asks the database once in a second for all tenants that somebody
    follows, with some look-ups for each of their fleets.

    Args:
        after (str | Unset):
        wait (str | Unset):
        last_event_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | TenantLiveNews
    """

    return (
        await asyncio_detailed(
            client=client,
            after=after,
            wait=wait,
            last_event_id=last_event_id,
        )
    ).parsed
