from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.node_config import NodeConfig
from ...models.node_resource_state import NodeResourceState
from ...models.problem import Problem
from ...models.resource_type import ResourceType
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    node: str,
    *,
    type_: ResourceType | Unset = UNSET,
    state: NodeResourceState | Unset = UNSET,
    bodies: bool | Unset = False,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_type_: str | Unset = UNSET
    if not isinstance(type_, Unset):
        json_type_ = type_.value

    params["type"] = json_type_

    json_state: str | Unset = UNSET
    if not isinstance(state, Unset):
        json_state = state.value

    params["state"] = json_state

    params["bodies"] = bodies

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/nodes/{node}/config".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
            node=quote(str(node), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> NodeConfig | Problem:
    if response.status_code == 200:
        response_200 = NodeConfig.from_dict(response.json())

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
) -> Response[NodeConfig | Problem]:
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
    state: NodeResourceState | Unset = UNSET,
    bodies: bool | Unset = False,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[NodeConfig | Problem]:
    """Tell what a node should hold, and why

     The fleet's resources as they are for this node: which variant its labels choose, what it refused,
    in its own words, and which version stands in for it. Every page
    is of one moment, which `revision` names. A resource that the node does not ask for is
    `not_subscribed`, as far as that is told (`subscribes` of the node).

    Args:
        tenant (str):
        fleet (str):
        node (str):
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        state (NodeResourceState | Unset): `synced`: the node has confirmed the revision that
            brought it, as far as it asks for it. `pending`: it has not yet, or the resource is
            withheld from it (`waits` of the node). `refused`: it refused the
            fleet's version, and another one stands in where there is one. `absent`: it refused every
            version that it was ever sent, and holds none. `unreferenced`: nothing in the fleet names
            it, and clients ask for resources of its type by name (of clusters: this node does): it
            has it only if its own bootstrap asks. `not_subscribed`: the node does not ask for it, so
            it was not sent
            it: it asks for nothing of the type, or for other listeners, or something in the fleet
            names it but nothing that this node has. `on_demand`: it is delivered by name alone, and
            the node
            asks for all clusters: it has it if it has asked for it by its name, which is not told.
            `unmatched`: no variant of it matches the node (only told when asked why).
        bodies (bool | Unset):  Default: False.
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[NodeConfig | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        node=node,
        type_=type_,
        state=state,
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
    node: str,
    *,
    client: AuthenticatedClient | Client,
    type_: ResourceType | Unset = UNSET,
    state: NodeResourceState | Unset = UNSET,
    bodies: bool | Unset = False,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> NodeConfig | Problem | None:
    """Tell what a node should hold, and why

     The fleet's resources as they are for this node: which variant its labels choose, what it refused,
    in its own words, and which version stands in for it. Every page
    is of one moment, which `revision` names. A resource that the node does not ask for is
    `not_subscribed`, as far as that is told (`subscribes` of the node).

    Args:
        tenant (str):
        fleet (str):
        node (str):
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        state (NodeResourceState | Unset): `synced`: the node has confirmed the revision that
            brought it, as far as it asks for it. `pending`: it has not yet, or the resource is
            withheld from it (`waits` of the node). `refused`: it refused the
            fleet's version, and another one stands in where there is one. `absent`: it refused every
            version that it was ever sent, and holds none. `unreferenced`: nothing in the fleet names
            it, and clients ask for resources of its type by name (of clusters: this node does): it
            has it only if its own bootstrap asks. `not_subscribed`: the node does not ask for it, so
            it was not sent
            it: it asks for nothing of the type, or for other listeners, or something in the fleet
            names it but nothing that this node has. `on_demand`: it is delivered by name alone, and
            the node
            asks for all clusters: it has it if it has asked for it by its name, which is not told.
            `unmatched`: no variant of it matches the node (only told when asked why).
        bodies (bool | Unset):  Default: False.
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        NodeConfig | Problem
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        node=node,
        client=client,
        type_=type_,
        state=state,
        bodies=bodies,
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
    state: NodeResourceState | Unset = UNSET,
    bodies: bool | Unset = False,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[NodeConfig | Problem]:
    """Tell what a node should hold, and why

     The fleet's resources as they are for this node: which variant its labels choose, what it refused,
    in its own words, and which version stands in for it. Every page
    is of one moment, which `revision` names. A resource that the node does not ask for is
    `not_subscribed`, as far as that is told (`subscribes` of the node).

    Args:
        tenant (str):
        fleet (str):
        node (str):
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        state (NodeResourceState | Unset): `synced`: the node has confirmed the revision that
            brought it, as far as it asks for it. `pending`: it has not yet, or the resource is
            withheld from it (`waits` of the node). `refused`: it refused the
            fleet's version, and another one stands in where there is one. `absent`: it refused every
            version that it was ever sent, and holds none. `unreferenced`: nothing in the fleet names
            it, and clients ask for resources of its type by name (of clusters: this node does): it
            has it only if its own bootstrap asks. `not_subscribed`: the node does not ask for it, so
            it was not sent
            it: it asks for nothing of the type, or for other listeners, or something in the fleet
            names it but nothing that this node has. `on_demand`: it is delivered by name alone, and
            the node
            asks for all clusters: it has it if it has asked for it by its name, which is not told.
            `unmatched`: no variant of it matches the node (only told when asked why).
        bodies (bool | Unset):  Default: False.
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[NodeConfig | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        node=node,
        type_=type_,
        state=state,
        bodies=bodies,
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
    state: NodeResourceState | Unset = UNSET,
    bodies: bool | Unset = False,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> NodeConfig | Problem | None:
    """Tell what a node should hold, and why

     The fleet's resources as they are for this node: which variant its labels choose, what it refused,
    in its own words, and which version stands in for it. Every page
    is of one moment, which `revision` names. A resource that the node does not ask for is
    `not_subscribed`, as far as that is told (`subscribes` of the node).

    Args:
        tenant (str):
        fleet (str):
        node (str):
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        state (NodeResourceState | Unset): `synced`: the node has confirmed the revision that
            brought it, as far as it asks for it. `pending`: it has not yet, or the resource is
            withheld from it (`waits` of the node). `refused`: it refused the
            fleet's version, and another one stands in where there is one. `absent`: it refused every
            version that it was ever sent, and holds none. `unreferenced`: nothing in the fleet names
            it, and clients ask for resources of its type by name (of clusters: this node does): it
            has it only if its own bootstrap asks. `not_subscribed`: the node does not ask for it, so
            it was not sent
            it: it asks for nothing of the type, or for other listeners, or something in the fleet
            names it but nothing that this node has. `on_demand`: it is delivered by name alone, and
            the node
            asks for all clusters: it has it if it has asked for it by its name, which is not told.
            `unmatched`: no variant of it matches the node (only told when asked why).
        bodies (bool | Unset):  Default: False.
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        NodeConfig | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            node=node,
            client=client,
            type_=type_,
            state=state,
            bodies=bodies,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
