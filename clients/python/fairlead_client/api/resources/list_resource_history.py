from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.resource_history import ResourceHistory
from ...models.resource_type import ResourceType
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    type_: ResourceType,
    name: str,
    *,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    variant: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["limit"] = limit

    params["cursor"] = cursor

    params["variant"] = variant

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/resources/{type_}/{name}/history".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
            type_=quote(str(type_), safe=""),
            name=quote(str(name), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | ResourceHistory:
    if response.status_code == 200:
        response_200 = ResourceHistory.from_dict(response.json())

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
) -> Response[Problem | ResourceHistory]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    tenant: str,
    fleet: str,
    type_: ResourceType,
    name: str,
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    variant: str | Unset = UNSET,
) -> Response[Problem | ResourceHistory]:
    """Tell what became of a resource

     Each revision that created, updated or deleted it, newest first, as far as the history goes. The
    oldest one that is told may have been made by a
    revision that is forgotten. A deleted resource has a history too. What it was then, `GET` with
    `revision` tells.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        name (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        variant (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | ResourceHistory]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        type_=type_,
        name=name,
        limit=limit,
        cursor=cursor,
        variant=variant,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    fleet: str,
    type_: ResourceType,
    name: str,
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    variant: str | Unset = UNSET,
) -> Problem | ResourceHistory | None:
    """Tell what became of a resource

     Each revision that created, updated or deleted it, newest first, as far as the history goes. The
    oldest one that is told may have been made by a
    revision that is forgotten. A deleted resource has a history too. What it was then, `GET` with
    `revision` tells.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        name (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        variant (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | ResourceHistory
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        type_=type_,
        name=name,
        client=client,
        limit=limit,
        cursor=cursor,
        variant=variant,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    type_: ResourceType,
    name: str,
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    variant: str | Unset = UNSET,
) -> Response[Problem | ResourceHistory]:
    """Tell what became of a resource

     Each revision that created, updated or deleted it, newest first, as far as the history goes. The
    oldest one that is told may have been made by a
    revision that is forgotten. A deleted resource has a history too. What it was then, `GET` with
    `revision` tells.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        name (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        variant (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | ResourceHistory]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        type_=type_,
        name=name,
        limit=limit,
        cursor=cursor,
        variant=variant,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    type_: ResourceType,
    name: str,
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    variant: str | Unset = UNSET,
) -> Problem | ResourceHistory | None:
    """Tell what became of a resource

     Each revision that created, updated or deleted it, newest first, as far as the history goes. The
    oldest one that is told may have been made by a
    revision that is forgotten. A deleted resource has a history too. What it was then, `GET` with
    `revision` tells.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        name (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        variant (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | ResourceHistory
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            type_=type_,
            name=name,
            client=client,
            limit=limit,
            cursor=cursor,
            variant=variant,
        )
    ).parsed
