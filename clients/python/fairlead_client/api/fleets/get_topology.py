from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.resource_type import ResourceType
from ...models.topology import Topology
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    *,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    most: int | Unset = 1000,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_type_: str | Unset = UNSET
    if not isinstance(type_, Unset):
        json_type_ = type_.value

    params["type"] = json_type_

    params["name"] = name

    params["most"] = most

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/topology".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | Topology:
    if response.status_code == 200:
        response_200 = Topology.from_dict(response.json())

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
) -> Response[Problem | Topology]:
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
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    most: int | Unset = 1000,
) -> Response[Problem | Topology]:
    """Tell what of a fleet names what

     A graph of the resources and of the names that they use: listeners lead to routes, these to
    clusters, and so on. What is named and not there is `missing`. Listeners and what they lead to
    stand first; beyond `most` the rest is left off, and counted. With `type` and `name`, what leads to
    that one and to what it leads.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        most (int | Unset):  Default: 1000.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Topology]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        type_=type_,
        name=name,
        most=most,
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
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    most: int | Unset = 1000,
) -> Problem | Topology | None:
    """Tell what of a fleet names what

     A graph of the resources and of the names that they use: listeners lead to routes, these to
    clusters, and so on. What is named and not there is `missing`. Listeners and what they lead to
    stand first; beyond `most` the rest is left off, and counted. With `type` and `name`, what leads to
    that one and to what it leads.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        most (int | Unset):  Default: 1000.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Topology
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        client=client,
        type_=type_,
        name=name,
        most=most,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    most: int | Unset = 1000,
) -> Response[Problem | Topology]:
    """Tell what of a fleet names what

     A graph of the resources and of the names that they use: listeners lead to routes, these to
    clusters, and so on. What is named and not there is `missing`. Listeners and what they lead to
    stand first; beyond `most` the rest is left off, and counted. With `type` and `name`, what leads to
    that one and to what it leads.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        most (int | Unset):  Default: 1000.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Topology]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        type_=type_,
        name=name,
        most=most,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    most: int | Unset = 1000,
) -> Problem | Topology | None:
    """Tell what of a fleet names what

     A graph of the resources and of the names that they use: listeners lead to routes, these to
    clusters, and so on. What is named and not there is `missing`. Listeners and what they lead to
    stand first; beyond `most` the rest is left off, and counted. With `type` and `name`, what leads to
    that one and to what it leads.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        most (int | Unset):  Default: 1000.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Topology
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            client=client,
            type_=type_,
            name=name,
            most=most,
        )
    ).parsed
