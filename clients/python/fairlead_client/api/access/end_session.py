from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...types import Response


def _get_kwargs(
    tenant: str,
    id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/tenants/{tenant}/sessions/{id}".format(
            tenant=quote(str(tenant), safe=""),
            id=quote(str(id), safe=""),
        ),
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
) -> Response[Any | Problem]:
    """End a session of one of the tenant's tokens

     Its next request is refused, on every server, and what it listens to ends within 5 seconds.
    Everybody may end the sessions of their own token; admins, owners
    and operators those of others, but nobody one of a token of a higher role than their own. The token
    stays valid: who has it can begin another session. Ending
    one that has ended changes nothing.

    Args:
        tenant (str):
        id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        id=id,
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
) -> Any | Problem | None:
    """End a session of one of the tenant's tokens

     Its next request is refused, on every server, and what it listens to ends within 5 seconds.
    Everybody may end the sessions of their own token; admins, owners
    and operators those of others, but nobody one of a token of a higher role than their own. The token
    stays valid: who has it can begin another session. Ending
    one that has ended changes nothing.

    Args:
        tenant (str):
        id (str):

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
    ).parsed


async def asyncio_detailed(
    tenant: str,
    id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Response[Any | Problem]:
    """End a session of one of the tenant's tokens

     Its next request is refused, on every server, and what it listens to ends within 5 seconds.
    Everybody may end the sessions of their own token; admins, owners
    and operators those of others, but nobody one of a token of a higher role than their own. The token
    stays valid: who has it can begin another session. Ending
    one that has ended changes nothing.

    Args:
        tenant (str):
        id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        id=id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    id: str,
    *,
    client: AuthenticatedClient | Client,
) -> Any | Problem | None:
    """End a session of one of the tenant's tokens

     Its next request is refused, on every server, and what it listens to ends within 5 seconds.
    Everybody may end the sessions of their own token; admins, owners
    and operators those of others, but nobody one of a token of a higher role than their own. The token
    stays valid: who has it can begin another session. Ending
    one that has ended changes nothing.

    Args:
        tenant (str):
        id (str):

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
        )
    ).parsed
