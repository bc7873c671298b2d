from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.audit_chain import AuditChain
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    *,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/audit/chain".format(
            tenant=quote(str(tenant), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> AuditChain | Problem:
    if response.status_code == 200:
        response_200 = AuditChain.from_dict(response.json())

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

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[AuditChain | Problem]:
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
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[AuditChain | Problem]:
    """List the chain of a tenant's audit

     What is needed to verify the audit: every event in the order of its numbers, oldest first, with all
    that its hash is of. The first hash is of 32 zero bytes and the
    first event; where retention has removed events, begin with the `hash` of `anchor`. For admins,
    owners and operators.

    Args:
        tenant (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AuditChain | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        limit=limit,
        cursor=cursor,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> AuditChain | Problem | None:
    """List the chain of a tenant's audit

     What is needed to verify the audit: every event in the order of its numbers, oldest first, with all
    that its hash is of. The first hash is of 32 zero bytes and the
    first event; where retention has removed events, begin with the `hash` of `anchor`. For admins,
    owners and operators.

    Args:
        tenant (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AuditChain | Problem
    """

    return sync_detailed(
        tenant=tenant,
        client=client,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[AuditChain | Problem]:
    """List the chain of a tenant's audit

     What is needed to verify the audit: every event in the order of its numbers, oldest first, with all
    that its hash is of. The first hash is of 32 zero bytes and the
    first event; where retention has removed events, begin with the `hash` of `anchor`. For admins,
    owners and operators.

    Args:
        tenant (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[AuditChain | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> AuditChain | Problem | None:
    """List the chain of a tenant's audit

     What is needed to verify the audit: every event in the order of its numbers, oldest first, with all
    that its hash is of. The first hash is of 32 zero bytes and the
    first event; where retention has removed events, begin with the `hash` of `anchor`. For admins,
    owners and operators.

    Args:
        tenant (str):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        AuditChain | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            client=client,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
