from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    id: str,
    *,
    leaked: bool | Unset = False,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["leaked"] = leaked

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/tenants/{tenant}/tokens/{id}".format(
            tenant=quote(str(tenant), safe=""),
            id=quote(str(id), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | Problem:
    if response.status_code == 204:
        response_204 = cast(Any, None)
        return response_204

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
) -> Response[Any | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    tenant: str,
    id: str,
    *,
    client: AuthenticatedClient | Client,
    leaked: bool | Unset = False,
) -> Response[Any | Problem]:
    """Revoke an API token

     Its next request is refused, and so are those of all tokens that end with it (in the list those
    whose `ends_with` it is, and so on). Nobody
    can revoke a token of a higher role than their own. Revoking a revoked token changes nothing, but
    with `leaked` what it made ends.

    Node credentials that it made stay, so that no proxy goes dark because somebody leaves. `leaked`
    ends them too.

    Args:
        tenant (str):
        id (str):
        leaked (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        id=id,
        leaked=leaked,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    id: str,
    *,
    client: AuthenticatedClient | Client,
    leaked: bool | Unset = False,
) -> Any | Problem | None:
    """Revoke an API token

     Its next request is refused, and so are those of all tokens that end with it (in the list those
    whose `ends_with` it is, and so on). Nobody
    can revoke a token of a higher role than their own. Revoking a revoked token changes nothing, but
    with `leaked` what it made ends.

    Node credentials that it made stay, so that no proxy goes dark because somebody leaves. `leaked`
    ends them too.

    Args:
        tenant (str):
        id (str):
        leaked (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return sync_detailed(
        tenant=tenant,
        id=id,
        client=client,
        leaked=leaked,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    id: str,
    *,
    client: AuthenticatedClient | Client,
    leaked: bool | Unset = False,
) -> Response[Any | Problem]:
    """Revoke an API token

     Its next request is refused, and so are those of all tokens that end with it (in the list those
    whose `ends_with` it is, and so on). Nobody
    can revoke a token of a higher role than their own. Revoking a revoked token changes nothing, but
    with `leaked` what it made ends.

    Node credentials that it made stay, so that no proxy goes dark because somebody leaves. `leaked`
    ends them too.

    Args:
        tenant (str):
        id (str):
        leaked (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        id=id,
        leaked=leaked,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    id: str,
    *,
    client: AuthenticatedClient | Client,
    leaked: bool | Unset = False,
) -> Any | Problem | None:
    """Revoke an API token

     Its next request is refused, and so are those of all tokens that end with it (in the list those
    whose `ends_with` it is, and so on). Nobody
    can revoke a token of a higher role than their own. Revoking a revoked token changes nothing, but
    with `leaked` what it made ends.

    Node credentials that it made stay, so that no proxy goes dark because somebody leaves. `leaked`
    ends them too.

    Args:
        tenant (str):
        id (str):
        leaked (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            id=id,
            client=client,
            leaked=leaked,
        )
    ).parsed
