import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.resource_list import ResourceList
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    *,
    revision: str | Unset = UNSET,
    at: datetime.datetime | Unset = UNSET,
    prefix: str | Unset = UNSET,
    label: list[str] | Unset = UNSET,
    bodies: bool | Unset = True,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["revision"] = revision

    json_at: str | Unset = UNSET
    if not isinstance(at, Unset):
        json_at = at.isoformat()
    params["at"] = json_at

    params["prefix"] = prefix

    json_label: list[str] | Unset = UNSET
    if not isinstance(label, Unset):
        json_label = label

    params["label"] = json_label

    params["bodies"] = bodies

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/resources".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | ResourceList:
    if response.status_code == 200:
        response_200 = ResourceList.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

    if response.status_code == 410:
        response_410 = Problem.from_dict(response.json())

        return response_410

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Problem | ResourceList]:
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
    revision: str | Unset = UNSET,
    at: datetime.datetime | Unset = UNSET,
    prefix: str | Unset = UNSET,
    label: list[str] | Unset = UNSET,
    bodies: bool | Unset = True,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[Problem | ResourceList]:
    """List the resources of a fleet

    Args:
        tenant (str):
        fleet (str):
        revision (str | Unset): The number of a revision, or `latest` for the newest one. Example:
            7.
        at (datetime.datetime | Unset):
        prefix (str | Unset):
        label (list[str] | Unset):
        bodies (bool | Unset):  Default: True.
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | ResourceList]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        revision=revision,
        at=at,
        prefix=prefix,
        label=label,
        bodies=bodies,
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
    revision: str | Unset = UNSET,
    at: datetime.datetime | Unset = UNSET,
    prefix: str | Unset = UNSET,
    label: list[str] | Unset = UNSET,
    bodies: bool | Unset = True,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Problem | ResourceList | None:
    """List the resources of a fleet

    Args:
        tenant (str):
        fleet (str):
        revision (str | Unset): The number of a revision, or `latest` for the newest one. Example:
            7.
        at (datetime.datetime | Unset):
        prefix (str | Unset):
        label (list[str] | Unset):
        bodies (bool | Unset):  Default: True.
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | ResourceList
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        client=client,
        revision=revision,
        at=at,
        prefix=prefix,
        label=label,
        bodies=bodies,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    revision: str | Unset = UNSET,
    at: datetime.datetime | Unset = UNSET,
    prefix: str | Unset = UNSET,
    label: list[str] | Unset = UNSET,
    bodies: bool | Unset = True,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[Problem | ResourceList]:
    """List the resources of a fleet

    Args:
        tenant (str):
        fleet (str):
        revision (str | Unset): The number of a revision, or `latest` for the newest one. Example:
            7.
        at (datetime.datetime | Unset):
        prefix (str | Unset):
        label (list[str] | Unset):
        bodies (bool | Unset):  Default: True.
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | ResourceList]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        revision=revision,
        at=at,
        prefix=prefix,
        label=label,
        bodies=bodies,
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
    revision: str | Unset = UNSET,
    at: datetime.datetime | Unset = UNSET,
    prefix: str | Unset = UNSET,
    label: list[str] | Unset = UNSET,
    bodies: bool | Unset = True,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Problem | ResourceList | None:
    """List the resources of a fleet

    Args:
        tenant (str):
        fleet (str):
        revision (str | Unset): The number of a revision, or `latest` for the newest one. Example:
            7.
        at (datetime.datetime | Unset):
        prefix (str | Unset):
        label (list[str] | Unset):
        bodies (bool | Unset):  Default: True.
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | ResourceList
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            client=client,
            revision=revision,
            at=at,
            prefix=prefix,
            label=label,
            bodies=bodies,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
