import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.audit_list import AuditList
from ...models.list_audit_format import ListAuditFormat
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    *,
    kind: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    fleet: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    format_: ListAuditFormat | Unset = ListAuditFormat.JSON,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["kind"] = kind

    params["actor"] = actor

    params["fleet"] = fleet

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    json_until: str | Unset = UNSET
    if not isinstance(until, Unset):
        json_until = until.isoformat()
    params["until"] = json_until

    json_format_: str | Unset = UNSET
    if not isinstance(format_, Unset):
        json_format_ = format_.value

    params["format"] = json_format_

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/audit".format(
            tenant=quote(str(tenant), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AuditList | Problem:
    if response.status_code == 200:
        response_200 = AuditList.from_dict(response.json())

        return response_200

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
) -> Response[AuditList | Problem]:
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
    kind: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    fleet: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    format_: ListAuditFormat | Unset = ListAuditFormat.JSON,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[AuditList | Problem]:
    """List or export what was done in a tenant

     Every change that the API has made: of resources, fleets, settings, credentials, tokens and limits,
    with who asked for it, from where, and under which request id.
    For admins, owners and operators. With filters a page looks at 5,000 events at most: it can be
    short, or empty, and still have a `next_cursor`.

    Args:
        tenant (str):
        kind (str | Unset):
        actor (str | Unset):
        fleet (str | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        format_ (ListAuditFormat | Unset):  Default: ListAuditFormat.JSON.
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AuditList | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        kind=kind,
        actor=actor,
        fleet=fleet,
        since=since,
        until=until,
        format_=format_,
        limit=limit,
        cursor=cursor,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    kind: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    fleet: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    format_: ListAuditFormat | Unset = ListAuditFormat.JSON,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> AuditList | Problem | None:
    """List or export what was done in a tenant

     Every change that the API has made: of resources, fleets, settings, credentials, tokens and limits,
    with who asked for it, from where, and under which request id.
    For admins, owners and operators. With filters a page looks at 5,000 events at most: it can be
    short, or empty, and still have a `next_cursor`.

    Args:
        tenant (str):
        kind (str | Unset):
        actor (str | Unset):
        fleet (str | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        format_ (ListAuditFormat | Unset):  Default: ListAuditFormat.JSON.
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AuditList | Problem
    """

    return sync_detailed(
        tenant=tenant,
        client=client,
        kind=kind,
        actor=actor,
        fleet=fleet,
        since=since,
        until=until,
        format_=format_,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    kind: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    fleet: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    format_: ListAuditFormat | Unset = ListAuditFormat.JSON,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[AuditList | Problem]:
    """List or export what was done in a tenant

     Every change that the API has made: of resources, fleets, settings, credentials, tokens and limits,
    with who asked for it, from where, and under which request id.
    For admins, owners and operators. With filters a page looks at 5,000 events at most: it can be
    short, or empty, and still have a `next_cursor`.

    Args:
        tenant (str):
        kind (str | Unset):
        actor (str | Unset):
        fleet (str | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        format_ (ListAuditFormat | Unset):  Default: ListAuditFormat.JSON.
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AuditList | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        kind=kind,
        actor=actor,
        fleet=fleet,
        since=since,
        until=until,
        format_=format_,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    kind: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    fleet: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
    format_: ListAuditFormat | Unset = ListAuditFormat.JSON,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> AuditList | Problem | None:
    """List or export what was done in a tenant

     Every change that the API has made: of resources, fleets, settings, credentials, tokens and limits,
    with who asked for it, from where, and under which request id.
    For admins, owners and operators. With filters a page looks at 5,000 events at most: it can be
    short, or empty, and still have a `next_cursor`.

    Args:
        tenant (str):
        kind (str | Unset):
        actor (str | Unset):
        fleet (str | Unset):
        since (datetime.datetime | Unset):
        until (datetime.datetime | Unset):
        format_ (ListAuditFormat | Unset):  Default: ListAuditFormat.JSON.
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AuditList | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            client=client,
            kind=kind,
            actor=actor,
            fleet=fleet,
            since=since,
            until=until,
            format_=format_,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
