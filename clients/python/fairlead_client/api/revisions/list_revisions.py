import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.resource_type import ResourceType
from ...models.revision_kind import RevisionKind
from ...models.revision_list import RevisionList
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    *,
    kind: RevisionKind | Unset = UNSET,
    actor: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    variant: str | Unset = UNSET,
    receipts: int | Unset = 1,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_kind: str | Unset = UNSET
    if not isinstance(kind, Unset):
        json_kind = kind.value

    params["kind"] = json_kind

    params["actor"] = actor

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    json_until: str | Unset = UNSET
    if not isinstance(until, Unset):
        json_until = until.isoformat()
    params["until"] = json_until

    json_type_: str | Unset = UNSET
    if not isinstance(type_, Unset):
        json_type_ = type_.value

    params["type"] = json_type_

    params["name"] = name

    params["variant"] = variant

    params["receipts"] = receipts

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/revisions".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | RevisionList:
    if response.status_code == 200:
        response_200 = RevisionList.from_dict(response.json())

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
) -> Response[Problem | RevisionList]:
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
    kind: RevisionKind | Unset = UNSET,
    actor: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    variant: str | Unset = UNSET,
    receipts: int | Unset = 1,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[Problem | RevisionList]:
    """List the revisions of a fleet

     With filters a page looks at 2,000 revisions at most: it can be short, or empty, and still have a
    `next_cursor`.

    Args:
        tenant (str):
        fleet (str):
        kind (RevisionKind | Unset): What was asked for: `put` and `delete` of one resource,
            `apply` of many, `delete` of many too where nothing else was in the apply, `rollback`;
            `endpoints` is of no request: what is served of endpoints as data has changed.
        actor (str | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        variant (str | Unset):
        receipts (int | Unset):  Default: 1.
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | RevisionList]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        kind=kind,
        actor=actor,
        since=since,
        until=until,
        type_=type_,
        name=name,
        variant=variant,
        receipts=receipts,
        limit=limit,
        cursor=cursor,
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
    kind: RevisionKind | Unset = UNSET,
    actor: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    variant: str | Unset = UNSET,
    receipts: int | Unset = 1,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Problem | RevisionList | None:
    """List the revisions of a fleet

     With filters a page looks at 2,000 revisions at most: it can be short, or empty, and still have a
    `next_cursor`.

    Args:
        tenant (str):
        fleet (str):
        kind (RevisionKind | Unset): What was asked for: `put` and `delete` of one resource,
            `apply` of many, `delete` of many too where nothing else was in the apply, `rollback`;
            `endpoints` is of no request: what is served of endpoints as data has changed.
        actor (str | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        variant (str | Unset):
        receipts (int | Unset):  Default: 1.
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | RevisionList
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        client=client,
        kind=kind,
        actor=actor,
        since=since,
        until=until,
        type_=type_,
        name=name,
        variant=variant,
        receipts=receipts,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    kind: RevisionKind | Unset = UNSET,
    actor: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    variant: str | Unset = UNSET,
    receipts: int | Unset = 1,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[Problem | RevisionList]:
    """List the revisions of a fleet

     With filters a page looks at 2,000 revisions at most: it can be short, or empty, and still have a
    `next_cursor`.

    Args:
        tenant (str):
        fleet (str):
        kind (RevisionKind | Unset): What was asked for: `put` and `delete` of one resource,
            `apply` of many, `delete` of many too where nothing else was in the apply, `rollback`;
            `endpoints` is of no request: what is served of endpoints as data has changed.
        actor (str | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        variant (str | Unset):
        receipts (int | Unset):  Default: 1.
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | RevisionList]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        kind=kind,
        actor=actor,
        since=since,
        until=until,
        type_=type_,
        name=name,
        variant=variant,
        receipts=receipts,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    kind: RevisionKind | Unset = UNSET,
    actor: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    variant: str | Unset = UNSET,
    receipts: int | Unset = 1,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Problem | RevisionList | None:
    """List the revisions of a fleet

     With filters a page looks at 2,000 revisions at most: it can be short, or empty, and still have a
    `next_cursor`.

    Args:
        tenant (str):
        fleet (str):
        kind (RevisionKind | Unset): What was asked for: `put` and `delete` of one resource,
            `apply` of many, `delete` of many too where nothing else was in the apply, `rollback`;
            `endpoints` is of no request: what is served of endpoints as data has changed.
        actor (str | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        variant (str | Unset):
        receipts (int | Unset):  Default: 1.
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | RevisionList
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            client=client,
            kind=kind,
            actor=actor,
            since=since,
            until=until,
            type_=type_,
            name=name,
            variant=variant,
            receipts=receipts,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
