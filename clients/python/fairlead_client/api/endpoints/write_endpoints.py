from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.endpoint_write import EndpointWrite
from ...models.endpoint_written import EndpointWritten
from ...models.problem import Problem
from ...types import Response


def _get_kwargs(
    tenant: str,
    fleet: str,
    cluster: str,
    *,
    body: EndpointWrite,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/endpoints/{cluster}".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
            cluster=quote(str(cluster), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
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

    if response.status_code == 409:
        response_409 = Problem.from_dict(response.json())

        return response_409

    if response.status_code == 413:
        response_413 = Problem.from_dict(response.json())

        return response_413

    if response.status_code == 422:
        response_422 = Problem.from_dict(response.json())

        return response_422

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
    *,
    client: AuthenticatedClient | Client,
    body: EndpointWrite,
) -> Response[EndpointWritten | Problem]:
    """Put and remove many endpoints of a cluster

     All of it or nothing. It is written when it is answered, and served some tenths of a second later:
    at most ten times a second what has changed is built into one revision, of the kind
    `endpoints`. A repeat changes nothing.

    Args:
        tenant (str):
        fleet (str):
        cluster (str):
        body (EndpointWrite):  Example: {'set': [{'address': '10.0.0.7:8080'}], 'remove':
            ['10.0.0.6:8080']}.

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
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    fleet: str,
    cluster: str,
    *,
    client: AuthenticatedClient | Client,
    body: EndpointWrite,
) -> EndpointWritten | Problem | None:
    """Put and remove many endpoints of a cluster

     All of it or nothing. It is written when it is answered, and served some tenths of a second later:
    at most ten times a second what has changed is built into one revision, of the kind
    `endpoints`. A repeat changes nothing.

    Args:
        tenant (str):
        fleet (str):
        cluster (str):
        body (EndpointWrite):  Example: {'set': [{'address': '10.0.0.7:8080'}], 'remove':
            ['10.0.0.6:8080']}.

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
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    cluster: str,
    *,
    client: AuthenticatedClient | Client,
    body: EndpointWrite,
) -> Response[EndpointWritten | Problem]:
    """Put and remove many endpoints of a cluster

     All of it or nothing. It is written when it is answered, and served some tenths of a second later:
    at most ten times a second what has changed is built into one revision, of the kind
    `endpoints`. A repeat changes nothing.

    Args:
        tenant (str):
        fleet (str):
        cluster (str):
        body (EndpointWrite):  Example: {'set': [{'address': '10.0.0.7:8080'}], 'remove':
            ['10.0.0.6:8080']}.

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
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    cluster: str,
    *,
    client: AuthenticatedClient | Client,
    body: EndpointWrite,
) -> EndpointWritten | Problem | None:
    """Put and remove many endpoints of a cluster

     All of it or nothing. It is written when it is answered, and served some tenths of a second later:
    at most ten times a second what has changed is built into one revision, of the kind
    `endpoints`. A repeat changes nothing.

    Args:
        tenant (str):
        fleet (str):
        cluster (str):
        body (EndpointWrite):  Example: {'set': [{'address': '10.0.0.7:8080'}], 'remove':
            ['10.0.0.6:8080']}.

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
            client=client,
            body=body,
        )
    ).parsed
