from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.node_reasons import NodeReasons
from ...models.problem import Problem
from ...models.resource_type import ResourceType
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    node: str,
    *,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

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
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/nodes/{node}/why".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
            node=quote(str(node), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> NodeReasons | Problem:
    if response.status_code == 200:
        response_200 = NodeReasons.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

    if response.status_code == 503:
        response_503 = Problem.from_dict(response.json())

        return response_503

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[NodeReasons | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    tenant: str,
    fleet: str,
    node: str,
    *,
    client: AuthenticatedClient | Client,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[NodeReasons | Problem]:
    """Tell why a node has each resource

     What the node's configuration tells, and why: the variant that the node's labels choose, each
    requirement of its selector with what the node has, the variants that were passed
    over, and what the node refused. With `type` and `name` of one resource, also of one that the node
    has not, because no variant of it matches.

    Args:
        tenant (str):
        fleet (str):
        node (str):
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[NodeReasons | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        node=node,
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
    node: str,
    *,
    client: AuthenticatedClient | Client,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> NodeReasons | Problem | None:
    """Tell why a node has each resource

     What the node's configuration tells, and why: the variant that the node's labels choose, each
    requirement of its selector with what the node has, the variants that were passed
    over, and what the node refused. With `type` and `name` of one resource, also of one that the node
    has not, because no variant of it matches.

    Args:
        tenant (str):
        fleet (str):
        node (str):
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        NodeReasons | Problem
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        node=node,
        client=client,
        type_=type_,
        name=name,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    node: str,
    *,
    client: AuthenticatedClient | Client,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[NodeReasons | Problem]:
    """Tell why a node has each resource

     What the node's configuration tells, and why: the variant that the node's labels choose, each
    requirement of its selector with what the node has, the variants that were passed
    over, and what the node refused. With `type` and `name` of one resource, also of one that the node
    has not, because no variant of it matches.

    Args:
        tenant (str):
        fleet (str):
        node (str):
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[NodeReasons | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        node=node,
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
    node: str,
    *,
    client: AuthenticatedClient | Client,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> NodeReasons | Problem | None:
    """Tell why a node has each resource

     What the node's configuration tells, and why: the variant that the node's labels choose, each
    requirement of its selector with what the node has, the variants that were passed
    over, and what the node refused. With `type` and `name` of one resource, also of one that the node
    has not, because no variant of it matches.

    Args:
        tenant (str):
        fleet (str):
        node (str):
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        NodeReasons | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            node=node,
            client=client,
            type_=type_,
            name=name,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
