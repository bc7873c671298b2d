from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.retry import Retry
from ...types import Response


def _get_kwargs(
    tenant: str,
    fleet: str,
    node: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/nodes/{node}/retry".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
            node=quote(str(node), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | Retry:
    if response.status_code == 200:
        response_200 = Retry.from_dict(response.json())

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

    if response.status_code == 503:
        response_503 = Problem.from_dict(response.json())

        return response_503

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Problem | Retry]:
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
) -> Response[Problem | Retry]:
    """Offer a node again what it refuses

     For a node that refused something for a reason of its own that is gone by now, such as a port that
    was taken. What it refuses at present is
    sent to it once more, at once if it is connected, else when it comes back. A fixed resource needs no
    retry: another version is always offered.

    Args:
        tenant (str):
        fleet (str):
        node (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Retry]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        node=node,
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
) -> Problem | Retry | None:
    """Offer a node again what it refuses

     For a node that refused something for a reason of its own that is gone by now, such as a port that
    was taken. What it refuses at present is
    sent to it once more, at once if it is connected, else when it comes back. A fixed resource needs no
    retry: another version is always offered.

    Args:
        tenant (str):
        fleet (str):
        node (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Retry
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        node=node,
        client=client,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    node: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Problem | Retry]:
    """Offer a node again what it refuses

     For a node that refused something for a reason of its own that is gone by now, such as a port that
    was taken. What it refuses at present is
    sent to it once more, at once if it is connected, else when it comes back. A fixed resource needs no
    retry: another version is always offered.

    Args:
        tenant (str):
        fleet (str):
        node (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Retry]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        node=node,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    node: str,
    *,
    client: AuthenticatedClient | Client,
) -> Problem | Retry | None:
    """Offer a node again what it refuses

     For a node that refused something for a reason of its own that is gone by now, such as a port that
    was taken. What it refuses at present is
    sent to it once more, at once if it is connected, else when it comes back. A fixed resource needs no
    retry: another version is always offered.

    Args:
        tenant (str):
        fleet (str):
        node (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Retry
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            node=node,
            client=client,
        )
    ).parsed
