from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.credential_created import CredentialCreated
from ...models.credential_renew import CredentialRenew
from ...models.problem import Problem
from ...types import Response


def _get_kwargs(
    tenant: str,
    fleet: str,
    id: str,
    *,
    body: CredentialRenew,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/credentials/{id}/renew".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
            id=quote(str(id), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> CredentialCreated | Problem:
    if response.status_code == 201:
        response_201 = CredentialCreated.from_dict(response.json())

        return response_201

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

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[CredentialCreated | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    tenant: str,
    fleet: str,
    id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CredentialRenew,
) -> Response[CredentialCreated | Problem]:
    """Renew a node credential

     Makes a new credential for the same nodes, with the same description and an expiry of its own. The
    answer shows its token, this once. The old
    credential works until it expires, so that proxies can change over. Whoever renews is the maker of
    the new one.

    Args:
        tenant (str):
        fleet (str):
        id (str):
        body (CredentialRenew):  Example: {'old_expires_at': '2026-12-24T12:00:00Z'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CredentialCreated | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        id=id,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    fleet: str,
    id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CredentialRenew,
) -> CredentialCreated | Problem | None:
    """Renew a node credential

     Makes a new credential for the same nodes, with the same description and an expiry of its own. The
    answer shows its token, this once. The old
    credential works until it expires, so that proxies can change over. Whoever renews is the maker of
    the new one.

    Args:
        tenant (str):
        fleet (str):
        id (str):
        body (CredentialRenew):  Example: {'old_expires_at': '2026-12-24T12:00:00Z'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CredentialCreated | Problem
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        id=id,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CredentialRenew,
) -> Response[CredentialCreated | Problem]:
    """Renew a node credential

     Makes a new credential for the same nodes, with the same description and an expiry of its own. The
    answer shows its token, this once. The old
    credential works until it expires, so that proxies can change over. Whoever renews is the maker of
    the new one.

    Args:
        tenant (str):
        fleet (str):
        id (str):
        body (CredentialRenew):  Example: {'old_expires_at': '2026-12-24T12:00:00Z'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[CredentialCreated | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        id=id,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    id: str,
    *,
    client: AuthenticatedClient | Client,
    body: CredentialRenew,
) -> CredentialCreated | Problem | None:
    """Renew a node credential

     Makes a new credential for the same nodes, with the same description and an expiry of its own. The
    answer shows its token, this once. The old
    credential works until it expires, so that proxies can change over. Whoever renews is the maker of
    the new one.

    Args:
        tenant (str):
        fleet (str):
        id (str):
        body (CredentialRenew):  Example: {'old_expires_at': '2026-12-24T12:00:00Z'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        CredentialCreated | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            id=id,
            client=client,
            body=body,
        )
    ).parsed
