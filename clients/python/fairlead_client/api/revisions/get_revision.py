from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.revision import Revision
from ...types import Response


def _get_kwargs(
    tenant: str,
    fleet: str,
    revision: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/revisions/{revision}".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
            revision=quote(str(revision), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | Revision:
    if response.status_code == 200:
        response_200 = Revision.from_dict(response.json())

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
) -> Response[Problem | Revision]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    tenant: str,
    fleet: str,
    revision: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Problem | Revision]:
    """Read a revision

    Args:
        tenant (str):
        fleet (str):
        revision (str): The number of a revision, or `latest` for the newest one. Example: 7.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Revision]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        revision=revision,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    fleet: str,
    revision: str,
    *,
    client: AuthenticatedClient | Client,
) -> Problem | Revision | None:
    """Read a revision

    Args:
        tenant (str):
        fleet (str):
        revision (str): The number of a revision, or `latest` for the newest one. Example: 7.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Revision
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        revision=revision,
        client=client,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    revision: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Problem | Revision]:
    """Read a revision

    Args:
        tenant (str):
        fleet (str):
        revision (str): The number of a revision, or `latest` for the newest one. Example: 7.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Revision]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        revision=revision,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    revision: str,
    *,
    client: AuthenticatedClient | Client,
) -> Problem | Revision | None:
    """Read a revision

    Args:
        tenant (str):
        fleet (str):
        revision (str): The number of a revision, or `latest` for the newest one. Example: 7.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Revision
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            revision=revision,
            client=client,
        )
    ).parsed
