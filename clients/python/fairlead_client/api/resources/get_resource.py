import datetime
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.resource import Resource
from ...models.resource_type import ResourceType
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    type_: ResourceType,
    name: str,
    *,
    revision: str | Unset = UNSET,
    at: datetime.datetime | Unset = UNSET,
    variant: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    params: dict[str, Any] = {}

    params["revision"] = revision

    json_at: str | Unset = UNSET
    if not isinstance(at, Unset):
        json_at = at.isoformat()
    params["at"] = json_at

    params["variant"] = variant

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/resources/{type_}/{name}".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
            type_=quote(str(type_), safe=""),
            name=quote(str(name), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | Problem | Resource:
    if response.status_code == 200:
        response_200 = Resource.from_dict(response.json())

        return response_200

    if response.status_code == 304:
        response_304 = cast(Any, None)
        return response_304

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
) -> Response[Any | Problem | Resource]:
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
    revision: str | Unset = UNSET,
    at: datetime.datetime | Unset = UNSET,
    variant: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Response[Any | Problem | Resource]:
    """Read a resource

     A secret is answered as what is known of it, never with its body.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        name (str):
        revision (str | Unset): The number of a revision, or `latest` for the newest one. Example:
            7.
        at (datetime.datetime | Unset):
        variant (str | Unset):
        if_none_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem | Resource]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        type_=type_,
        name=name,
        revision=revision,
        at=at,
        variant=variant,
        if_none_match=if_none_match,
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
    revision: str | Unset = UNSET,
    at: datetime.datetime | Unset = UNSET,
    variant: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Any | Problem | Resource | None:
    """Read a resource

     A secret is answered as what is known of it, never with its body.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        name (str):
        revision (str | Unset): The number of a revision, or `latest` for the newest one. Example:
            7.
        at (datetime.datetime | Unset):
        variant (str | Unset):
        if_none_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem | Resource
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        type_=type_,
        name=name,
        client=client,
        revision=revision,
        at=at,
        variant=variant,
        if_none_match=if_none_match,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    type_: ResourceType,
    name: str,
    *,
    client: AuthenticatedClient | Client,
    revision: str | Unset = UNSET,
    at: datetime.datetime | Unset = UNSET,
    variant: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Response[Any | Problem | Resource]:
    """Read a resource

     A secret is answered as what is known of it, never with its body.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        name (str):
        revision (str | Unset): The number of a revision, or `latest` for the newest one. Example:
            7.
        at (datetime.datetime | Unset):
        variant (str | Unset):
        if_none_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem | Resource]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        type_=type_,
        name=name,
        revision=revision,
        at=at,
        variant=variant,
        if_none_match=if_none_match,
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
    revision: str | Unset = UNSET,
    at: datetime.datetime | Unset = UNSET,
    variant: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Any | Problem | Resource | None:
    """Read a resource

     A secret is answered as what is known of it, never with its body.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        name (str):
        revision (str | Unset): The number of a revision, or `latest` for the newest one. Example:
            7.
        at (datetime.datetime | Unset):
        variant (str | Unset):
        if_none_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem | Resource
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            type_=type_,
            name=name,
            client=client,
            revision=revision,
            at=at,
            variant=variant,
            if_none_match=if_none_match,
        )
    ).parsed
