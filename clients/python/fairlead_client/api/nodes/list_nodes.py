from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.node_list import NodeList
from ...models.node_state import NodeState
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    *,
    selector: str | Unset = UNSET,
    state: NodeState | Unset = UNSET,
    count: bool | Unset = False,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["selector"] = selector

    json_state: str | Unset = UNSET
    if not isinstance(state, Unset):
        json_state = state.value

    params["state"] = json_state

    params["count"] = count

    params["prefix"] = prefix

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/nodes".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> NodeList | Problem:
    if response.status_code == 200:
        response_200 = NodeList.from_dict(response.json())

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
) -> Response[NodeList | Problem]:
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
    selector: str | Unset = UNSET,
    state: NodeState | Unset = UNSET,
    count: bool | Unset = False,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[NodeList | Problem]:
    """List the nodes of a fleet

    Args:
        tenant (str):
        fleet (str):
        selector (str | Unset):
        state (NodeState | Unset): `refusing`: live, and at least one resource stands refused.
        count (bool | Unset):  Default: False.
        prefix (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[NodeList | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        selector=selector,
        state=state,
        count=count,
        prefix=prefix,
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
    selector: str | Unset = UNSET,
    state: NodeState | Unset = UNSET,
    count: bool | Unset = False,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> NodeList | Problem | None:
    """List the nodes of a fleet

    Args:
        tenant (str):
        fleet (str):
        selector (str | Unset):
        state (NodeState | Unset): `refusing`: live, and at least one resource stands refused.
        count (bool | Unset):  Default: False.
        prefix (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        NodeList | Problem
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        client=client,
        selector=selector,
        state=state,
        count=count,
        prefix=prefix,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    selector: str | Unset = UNSET,
    state: NodeState | Unset = UNSET,
    count: bool | Unset = False,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[NodeList | Problem]:
    """List the nodes of a fleet

    Args:
        tenant (str):
        fleet (str):
        selector (str | Unset):
        state (NodeState | Unset): `refusing`: live, and at least one resource stands refused.
        count (bool | Unset):  Default: False.
        prefix (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[NodeList | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        selector=selector,
        state=state,
        count=count,
        prefix=prefix,
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
    selector: str | Unset = UNSET,
    state: NodeState | Unset = UNSET,
    count: bool | Unset = False,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> NodeList | Problem | None:
    """List the nodes of a fleet

    Args:
        tenant (str):
        fleet (str):
        selector (str | Unset):
        state (NodeState | Unset): `refusing`: live, and at least one resource stands refused.
        count (bool | Unset):  Default: False.
        prefix (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        NodeList | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            client=client,
            selector=selector,
            state=state,
            count=count,
            prefix=prefix,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
