from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.event_kind import EventKind
from ...models.event_list import EventList
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    *,
    node: str | Unset = UNSET,
    kind: EventKind | Unset = UNSET,
    since: str | Unset = UNSET,
    grouped: bool | Unset = False,
    after: str | Unset = UNSET,
    wait: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(last_event_id, Unset):
        headers["Last-Event-ID"] = last_event_id

    params: dict[str, Any] = {}

    params["node"] = node

    json_kind: str | Unset = UNSET
    if not isinstance(kind, Unset):
        json_kind = kind.value

    params["kind"] = json_kind

    params["since"] = since

    params["grouped"] = grouped

    params["after"] = after

    params["wait"] = wait

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/events".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> EventList | Problem:
    if response.status_code == 200:
        response_200 = EventList.from_dict(response.json())

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
) -> Response[EventList | Problem]:
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
    node: str | Unset = UNSET,
    kind: EventKind | Unset = UNSET,
    since: str | Unset = UNSET,
    grouped: bool | Unset = False,
    after: str | Unset = UNSET,
    wait: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> Response[EventList | Problem]:
    """List what happened to the nodes of a fleet, or follow it

     Refusals, what was done about them, their ends, and node ids that several clients have. The newest
    10,000 of a fleet are kept, for 30 days.

    Newest first, page by page by `cursor`. With `after` or `wait`: what happened after a place, oldest
    first, and with `wait` as soon as there is
    something. With `Accept: text/event-stream`: a stream of server-sent events, each an `Event` in one
    line of `data`, with its place as `id`; a client that
    connects again with `Last-Event-ID` is told what it missed. A line comes at least every 15 s. The
    stream ends when the token does (within some
    seconds), when the fleet is deleted, when the server stops, and when its client does not read. It
    counts as a request that waits.

    Args:
        tenant (str):
        fleet (str):
        node (str | Unset):
        kind (EventKind | Unset): `refused`: the node refused the resource. `kept_back`: something
            stands in for what it refused, or it was left without. `recovered`: the refusal
            has ended: another version is in force, or the node has what it is to have. `offered`: the
            node is offered the refused version once more, after a retry, as another process, or
            because what it could not be beside has changed, or a cluster that it names has come; it
            may refuse it again. `duplicates`: several clients have this node id. `dropped`: the fleet
            is at a
            limit, and older events or refusals were dropped, or the database refused a row of what a
            node said; told once an hour at most. `denied`: clients were not let in, or not given what
            they asked for,
            for one `reason`; the same again is the same event with more `attempts` and a newer time,
            and comes again to who follows. `withheld`: the same of clients that were let in and from
            which a resource
            is kept, for one of the reasons `withheld_*`.
        since (str | Unset):
        grouped (bool | Unset):  Default: False.
        after (str | Unset):
        wait (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        last_event_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[EventList | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        node=node,
        kind=kind,
        since=since,
        grouped=grouped,
        after=after,
        wait=wait,
        limit=limit,
        cursor=cursor,
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
    node: str | Unset = UNSET,
    kind: EventKind | Unset = UNSET,
    since: str | Unset = UNSET,
    grouped: bool | Unset = False,
    after: str | Unset = UNSET,
    wait: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> EventList | Problem | None:
    """List what happened to the nodes of a fleet, or follow it

     Refusals, what was done about them, their ends, and node ids that several clients have. The newest
    10,000 of a fleet are kept, for 30 days.

    Newest first, page by page by `cursor`. With `after` or `wait`: what happened after a place, oldest
    first, and with `wait` as soon as there is
    something. With `Accept: text/event-stream`: a stream of server-sent events, each an `Event` in one
    line of `data`, with its place as `id`; a client that
    connects again with `Last-Event-ID` is told what it missed. A line comes at least every 15 s. The
    stream ends when the token does (within some
    seconds), when the fleet is deleted, when the server stops, and when its client does not read. It
    counts as a request that waits.

    Args:
        tenant (str):
        fleet (str):
        node (str | Unset):
        kind (EventKind | Unset): `refused`: the node refused the resource. `kept_back`: something
            stands in for what it refused, or it was left without. `recovered`: the refusal
            has ended: another version is in force, or the node has what it is to have. `offered`: the
            node is offered the refused version once more, after a retry, as another process, or
            because what it could not be beside has changed, or a cluster that it names has come; it
            may refuse it again. `duplicates`: several clients have this node id. `dropped`: the fleet
            is at a
            limit, and older events or refusals were dropped, or the database refused a row of what a
            node said; told once an hour at most. `denied`: clients were not let in, or not given what
            they asked for,
            for one `reason`; the same again is the same event with more `attempts` and a newer time,
            and comes again to who follows. `withheld`: the same of clients that were let in and from
            which a resource
            is kept, for one of the reasons `withheld_*`.
        since (str | Unset):
        grouped (bool | Unset):  Default: False.
        after (str | Unset):
        wait (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        last_event_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        EventList | Problem
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        client=client,
        node=node,
        kind=kind,
        since=since,
        grouped=grouped,
        after=after,
        wait=wait,
        limit=limit,
        cursor=cursor,
        last_event_id=last_event_id,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    node: str | Unset = UNSET,
    kind: EventKind | Unset = UNSET,
    since: str | Unset = UNSET,
    grouped: bool | Unset = False,
    after: str | Unset = UNSET,
    wait: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> Response[EventList | Problem]:
    """List what happened to the nodes of a fleet, or follow it

     Refusals, what was done about them, their ends, and node ids that several clients have. The newest
    10,000 of a fleet are kept, for 30 days.

    Newest first, page by page by `cursor`. With `after` or `wait`: what happened after a place, oldest
    first, and with `wait` as soon as there is
    something. With `Accept: text/event-stream`: a stream of server-sent events, each an `Event` in one
    line of `data`, with its place as `id`; a client that
    connects again with `Last-Event-ID` is told what it missed. A line comes at least every 15 s. The
    stream ends when the token does (within some
    seconds), when the fleet is deleted, when the server stops, and when its client does not read. It
    counts as a request that waits.

    Args:
        tenant (str):
        fleet (str):
        node (str | Unset):
        kind (EventKind | Unset): `refused`: the node refused the resource. `kept_back`: something
            stands in for what it refused, or it was left without. `recovered`: the refusal
            has ended: another version is in force, or the node has what it is to have. `offered`: the
            node is offered the refused version once more, after a retry, as another process, or
            because what it could not be beside has changed, or a cluster that it names has come; it
            may refuse it again. `duplicates`: several clients have this node id. `dropped`: the fleet
            is at a
            limit, and older events or refusals were dropped, or the database refused a row of what a
            node said; told once an hour at most. `denied`: clients were not let in, or not given what
            they asked for,
            for one `reason`; the same again is the same event with more `attempts` and a newer time,
            and comes again to who follows. `withheld`: the same of clients that were let in and from
            which a resource
            is kept, for one of the reasons `withheld_*`.
        since (str | Unset):
        grouped (bool | Unset):  Default: False.
        after (str | Unset):
        wait (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        last_event_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[EventList | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        node=node,
        kind=kind,
        since=since,
        grouped=grouped,
        after=after,
        wait=wait,
        limit=limit,
        cursor=cursor,
        last_event_id=last_event_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    node: str | Unset = UNSET,
    kind: EventKind | Unset = UNSET,
    since: str | Unset = UNSET,
    grouped: bool | Unset = False,
    after: str | Unset = UNSET,
    wait: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> EventList | Problem | None:
    """List what happened to the nodes of a fleet, or follow it

     Refusals, what was done about them, their ends, and node ids that several clients have. The newest
    10,000 of a fleet are kept, for 30 days.

    Newest first, page by page by `cursor`. With `after` or `wait`: what happened after a place, oldest
    first, and with `wait` as soon as there is
    something. With `Accept: text/event-stream`: a stream of server-sent events, each an `Event` in one
    line of `data`, with its place as `id`; a client that
    connects again with `Last-Event-ID` is told what it missed. A line comes at least every 15 s. The
    stream ends when the token does (within some
    seconds), when the fleet is deleted, when the server stops, and when its client does not read. It
    counts as a request that waits.

    Args:
        tenant (str):
        fleet (str):
        node (str | Unset):
        kind (EventKind | Unset): `refused`: the node refused the resource. `kept_back`: something
            stands in for what it refused, or it was left without. `recovered`: the refusal
            has ended: another version is in force, or the node has what it is to have. `offered`: the
            node is offered the refused version once more, after a retry, as another process, or
            because what it could not be beside has changed, or a cluster that it names has come; it
            may refuse it again. `duplicates`: several clients have this node id. `dropped`: the fleet
            is at a
            limit, and older events or refusals were dropped, or the database refused a row of what a
            node said; told once an hour at most. `denied`: clients were not let in, or not given what
            they asked for,
            for one `reason`; the same again is the same event with more `attempts` and a newer time,
            and comes again to who follows. `withheld`: the same of clients that were let in and from
            which a resource
            is kept, for one of the reasons `withheld_*`.
        since (str | Unset):
        grouped (bool | Unset):  Default: False.
        after (str | Unset):
        wait (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        last_event_id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        EventList | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            client=client,
            node=node,
            kind=kind,
            since=since,
            grouped=grouped,
            after=after,
            wait=wait,
            limit=limit,
            cursor=cursor,
            last_event_id=last_event_id,
        )
    ).parsed
