from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.endpoint_written import EndpointWritten
from ...models.problem import Problem
from ...types import Response


def _get_kwargs(
    tenant: str,
    fleet: str,
    cluster: str,
    locality: str,
    address: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/endpoints/{cluster}/{locality}/{address}".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
            cluster=quote(str(cluster), safe=""),
            locality=quote(str(locality), safe=""),
            address=quote(str(address), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> EndpointWritten | Problem:
    if response.status_code == 200:
        response_200 = EndpointWritten.from_dict(response.json())

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

    if response.status_code == 503:
        response_503 = Problem.from_dict(response.json())

        return response_503

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[EndpointWritten | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    tenant: str,
    fleet: str,
    cluster: str,
    locality: str,
    address: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[EndpointWritten | Problem]:
    """Remove an endpoint of a cluster

     What is not there, or not in that locality, is removed already: `removed` is 0.

    Args:
        tenant (str):
        fleet (str):
        cluster (str):
        locality (str):
        address (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[EndpointWritten | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        cluster=cluster,
        locality=locality,
        address=address,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    fleet: str,
    cluster: str,
    locality: str,
    address: str,
    *,
    client: AuthenticatedClient | Client,
) -> EndpointWritten | Problem | None:
    """Remove an endpoint of a cluster

     What is not there, or not in that locality, is removed already: `removed` is 0.

    Args:
        tenant (str):
        fleet (str):
        cluster (str):
        locality (str):
        address (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        EndpointWritten | Problem
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        cluster=cluster,
        locality=locality,
        address=address,
        client=client,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    cluster: str,
    locality: str,
    address: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[EndpointWritten | Problem]:
    """Remove an endpoint of a cluster

     What is not there, or not in that locality, is removed already: `removed` is 0.

    Args:
        tenant (str):
        fleet (str):
        cluster (str):
        locality (str):
        address (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[EndpointWritten | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        cluster=cluster,
        locality=locality,
        address=address,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    cluster: str,
    locality: str,
    address: str,
    *,
    client: AuthenticatedClient | Client,
) -> EndpointWritten | Problem | None:
    """Remove an endpoint of a cluster

     What is not there, or not in that locality, is removed already: `removed` is 0.

    Args:
        tenant (str):
        fleet (str):
        cluster (str):
        locality (str):
        address (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        EndpointWritten | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            cluster=cluster,
            locality=locality,
            address=address,
            client=client,
        )
    ).parsed
