from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.audit_check import AuditCheck
from ...models.problem import Problem
from ...types import Response


def _get_kwargs(
    tenant: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/audit/verify".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AuditCheck | Problem:
    if response.status_code == 200:
        response_200 = AuditCheck.from_dict(response.json())

        return response_200

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AuditCheck | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[AuditCheck | Problem]:
    """Read whether the audit of a tenant is as it was written

     Each event of the audit has a number and a hash, which is of the event and of the hash before it.
    The API servers verify the whole chain once a day, and
    sign its head with a key that the database does not have. This is the result of the last
    verification, and where the chain stands.
    `fairlead audit --verify` verifies it again, from `listAuditChain`. For admins, owners and
    operators.

    Args:
        tenant (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AuditCheck | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
) -> AuditCheck | Problem | None:
    """Read whether the audit of a tenant is as it was written

     Each event of the audit has a number and a hash, which is of the event and of the hash before it.
    The API servers verify the whole chain once a day, and
    sign its head with a key that the database does not have. This is the result of the last
    verification, and where the chain stands.
    `fairlead audit --verify` verifies it again, from `listAuditChain`. For admins, owners and
    operators.

    Args:
        tenant (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AuditCheck | Problem
    """

    return sync_detailed(
        tenant=tenant,
        client=client,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[AuditCheck | Problem]:
    """Read whether the audit of a tenant is as it was written

     Each event of the audit has a number and a hash, which is of the event and of the hash before it.
    The API servers verify the whole chain once a day, and
    sign its head with a key that the database does not have. This is the result of the last
    verification, and where the chain stands.
    `fairlead audit --verify` verifies it again, from `listAuditChain`. For admins, owners and
    operators.

    Args:
        tenant (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AuditCheck | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
) -> AuditCheck | Problem | None:
    """Read whether the audit of a tenant is as it was written

     Each event of the audit has a number and a hash, which is of the event and of the hash before it.
    The API servers verify the whole chain once a day, and
    sign its head with a key that the database does not have. This is the result of the last
    verification, and where the chain stands.
    `fairlead audit --verify` verifies it again, from `listAuditChain`. For admins, owners and
    operators.

    Args:
        tenant (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AuditCheck | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            client=client,
        )
    ).parsed
