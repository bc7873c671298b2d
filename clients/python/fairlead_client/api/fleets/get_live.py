from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.live_news import LiveNews
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
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
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/live".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> LiveNews | Problem:
    if response.status_code == 200:
        response_200 = LiveNews.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[LiveNews | Problem]:
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
    after: str | Unset = UNSET,
    wait: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> Response[LiveNews | Problem]:
    """Tell when something of a fleet has changed

     Says that there is something to look at again, and never what it is now: ask for that by the other
    operations.

    With `Accept: text/event-stream`: a stream of server-sent events, each `data: {"what": ["revision",
    ...]}`, at most one in 250 ms, with its place as `id`. It tells what
    changes once it has begun: begin it, then read. A client that connects again with `Last-Event-ID`,
    at whichever server, is told what changed meanwhile. An event
    `heartbeat` with an empty `what` comes first, and every 5 s where nothing changes, so that a client
    knows by its silence that the stream is dead. The stream ends when the token does (within some
    seconds), when the fleet is deleted, when the server stops, and when its client does not
    read. Else one answer: what changed after a place, and with `wait` as soon as something does. A
    stream and a wait count as a request that waits.

    However many follow a fleet, a server asks the database once in 250 ms for all fleets that somebody
    follows, with some look-ups for each of them.

    Args:
        tenant (str):
        fleet (str):
        after (str | Unset):
        wait (str | Unset):
        last_event_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[LiveNews | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        after=after,
        wait=wait,
        last_event_id=last_event_id,
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
    after: str | Unset = UNSET,
    wait: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> LiveNews | Problem | None:
    """Tell when something of a fleet has changed

     Says that there is something to look at again, and never what it is now: ask for that by the other
    operations.

    With `Accept: text/event-stream`: a stream of server-sent events, each `data: {"what": ["revision",
    ...]}`, at most one in 250 ms, with its place as `id`. It tells what
    changes once it has begun: begin it, then read. A client that connects again with `Last-Event-ID`,
    at whichever server, is told what changed meanwhile. An event
    `heartbeat` with an empty `what` comes first, and every 5 s where nothing changes, so that a client
    knows by its silence that the stream is dead. The stream ends when the token does (within some
    seconds), when the fleet is deleted, when the server stops, and when its client does not
    read. Else one answer: what changed after a place, and with `wait` as soon as something does. A
    stream and a wait count as a request that waits.

    However many follow a fleet, a server asks the database once in 250 ms for all fleets that somebody
    follows, with some look-ups for each of them.

    Args:
        tenant (str):
        fleet (str):
        after (str | Unset):
        wait (str | Unset):
        last_event_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        LiveNews | Problem
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        client=client,
        after=after,
        wait=wait,
        last_event_id=last_event_id,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    wait: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> Response[LiveNews | Problem]:
    """Tell when something of a fleet has changed

     Says that there is something to look at again, and never what it is now: ask for that by the other
    operations.

    With `Accept: text/event-stream`: a stream of server-sent events, each `data: {"what": ["revision",
    ...]}`, at most one in 250 ms, with its place as `id`. It tells what
    changes once it has begun: begin it, then read. A client that connects again with `Last-Event-ID`,
    at whichever server, is told what changed meanwhile. An event
    `heartbeat` with an empty `what` comes first, and every 5 s where nothing changes, so that a client
    knows by its silence that the stream is dead. The stream ends when the token does (within some
    seconds), when the fleet is deleted, when the server stops, and when its client does not
    read. Else one answer: what changed after a place, and with `wait` as soon as something does. A
    stream and a wait count as a request that waits.

    However many follow a fleet, a server asks the database once in 250 ms for all fleets that somebody
    follows, with some look-ups for each of them.

    Args:
        tenant (str):
        fleet (str):
        after (str | Unset):
        wait (str | Unset):
        last_event_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[LiveNews | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        after=after,
        wait=wait,
        last_event_id=last_event_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    after: str | Unset = UNSET,
    wait: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> LiveNews | Problem | None:
    """Tell when something of a fleet has changed

     Says that there is something to look at again, and never what it is now: ask for that by the other
    operations.

    With `Accept: text/event-stream`: a stream of server-sent events, each `data: {"what": ["revision",
    ...]}`, at most one in 250 ms, with its place as `id`. It tells what
    changes once it has begun: begin it, then read. A client that connects again with `Last-Event-ID`,
    at whichever server, is told what changed meanwhile. An event
    `heartbeat` with an empty `what` comes first, and every 5 s where nothing changes, so that a client
    knows by its silence that the stream is dead. The stream ends when the token does (within some
    seconds), when the fleet is deleted, when the server stops, and when its client does not
    read. Else one answer: what changed after a place, and with `wait` as soon as something does. A
    stream and a wait count as a request that waits.

    However many follow a fleet, a server asks the database once in 250 ms for all fleets that somebody
    follows, with some look-ups for each of them.

    Args:
        tenant (str):
        fleet (str):
        after (str | Unset):
        wait (str | Unset):
        last_event_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        LiveNews | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            client=client,
            after=after,
            wait=wait,
            last_event_id=last_event_id,
        )
    ).parsed
