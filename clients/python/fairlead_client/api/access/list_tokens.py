from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.credential_state import CredentialState
from ...models.problem import Problem
from ...models.role import Role
from ...models.token_list import TokenList
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    *,
    state: CredentialState | Unset = UNSET,
    role: Role | Unset = UNSET,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_state: str | Unset = UNSET
    if not isinstance(state, Unset):
        json_state = state.value

    params["state"] = json_state

    json_role: str | Unset = UNSET
    if not isinstance(role, Unset):
        json_role = role.value

    params["role"] = json_role

    params["prefix"] = prefix

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/tokens".format(
            tenant=quote(str(tenant), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | TokenList:
    if response.status_code == 200:
        response_200 = TokenList.from_dict(response.json())

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
) -> Response[Problem | TokenList]:
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
    state: CredentialState | Unset = UNSET,
    role: Role | Unset = UNSET,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[Problem | TokenList]:
    """List the API tokens of a tenant

     Never the secret part.

    Args:
        tenant (str):
        state (CredentialState | Unset): `active`: it is valid. `expired`: its time is over.
            `revoked`: somebody has revoked it, or what it depends on.
        role (Role | Unset): What a token may do. `ci` writes to one fleet.
        prefix (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | TokenList]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        state=state,
        role=role,
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
    *,
    client: AuthenticatedClient | Client,
    state: CredentialState | Unset = UNSET,
    role: Role | Unset = UNSET,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Problem | TokenList | None:
    """List the API tokens of a tenant

     Never the secret part.

    Args:
        tenant (str):
        state (CredentialState | Unset): `active`: it is valid. `expired`: its time is over.
            `revoked`: somebody has revoked it, or what it depends on.
        role (Role | Unset): What a token may do. `ci` writes to one fleet.
        prefix (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | TokenList
    """

    return sync_detailed(
        tenant=tenant,
        client=client,
        state=state,
        role=role,
        prefix=prefix,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    state: CredentialState | Unset = UNSET,
    role: Role | Unset = UNSET,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[Problem | TokenList]:
    """List the API tokens of a tenant

     Never the secret part.

    Args:
        tenant (str):
        state (CredentialState | Unset): `active`: it is valid. `expired`: its time is over.
            `revoked`: somebody has revoked it, or what it depends on.
        role (Role | Unset): What a token may do. `ci` writes to one fleet.
        prefix (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | TokenList]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        state=state,
        role=role,
        prefix=prefix,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    state: CredentialState | Unset = UNSET,
    role: Role | Unset = UNSET,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Problem | TokenList | None:
    """List the API tokens of a tenant

     Never the secret part.

    Args:
        tenant (str):
        state (CredentialState | Unset): `active`: it is valid. `expired`: its time is over.
            `revoked`: somebody has revoked it, or what it depends on.
        role (Role | Unset): What a token may do. `ci` writes to one fleet.
        prefix (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | TokenList
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            client=client,
            state=state,
            role=role,
            prefix=prefix,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
