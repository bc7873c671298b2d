from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.comparison import Comparison
from ...models.problem import Problem
from ...models.resource_type import ResourceType
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    *,
    from_: str,
    to: str | Unset = UNSET,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["from"] = from_

    params["to"] = to

    json_type_: str | Unset = UNSET
    if not isinstance(type_, Unset):
        json_type_ = type_.value

    params["type"] = json_type_

    params["name"] = name

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/compare".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Comparison | Problem:
    if response.status_code == 200:
        response_200 = Comparison.from_dict(response.json())

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
) -> Response[Comparison | Problem]:
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
    from_: str,
    to: str | Unset = UNSET,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[Comparison | Problem]:
    """Tell what differs between two revisions

     In either order: what `to` has and `from` has not is `create`. A secret is compared by what is told
    of it, never by its body.

    Args:
        tenant (str):
        fleet (str):
        from_ (str): The number of a revision, or `latest` for the newest one. Example: 7.
        to (str | Unset): The number of a revision, or `latest` for the newest one. Example: 7.
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Comparison | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        from_=from_,
        to=to,
        type_=type_,
        name=name,
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
    from_: str,
    to: str | Unset = UNSET,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Comparison | Problem | None:
    """Tell what differs between two revisions

     In either order: what `to` has and `from` has not is `create`. A secret is compared by what is told
    of it, never by its body.

    Args:
        tenant (str):
        fleet (str):
        from_ (str): The number of a revision, or `latest` for the newest one. Example: 7.
        to (str | Unset): The number of a revision, or `latest` for the newest one. Example: 7.
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Comparison | Problem
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        client=client,
        from_=from_,
        to=to,
        type_=type_,
        name=name,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    from_: str,
    to: str | Unset = UNSET,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[Comparison | Problem]:
    """Tell what differs between two revisions

     In either order: what `to` has and `from` has not is `create`. A secret is compared by what is told
    of it, never by its body.

    Args:
        tenant (str):
        fleet (str):
        from_ (str): The number of a revision, or `latest` for the newest one. Example: 7.
        to (str | Unset): The number of a revision, or `latest` for the newest one. Example: 7.
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Comparison | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        from_=from_,
        to=to,
        type_=type_,
        name=name,
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
    from_: str,
    to: str | Unset = UNSET,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Comparison | Problem | None:
    """Tell what differs between two revisions

     In either order: what `to` has and `from` has not is `create`. A secret is compared by what is told
    of it, never by its body.

    Args:
        tenant (str):
        fleet (str):
        from_ (str): The number of a revision, or `latest` for the newest one. Example: 7.
        to (str | Unset): The number of a revision, or `latest` for the newest one. Example: 7.
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Comparison | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            client=client,
            from_=from_,
            to=to,
            type_=type_,
            name=name,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
