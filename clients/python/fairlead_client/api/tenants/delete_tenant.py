from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    *,
    confirm: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["confirm"] = confirm

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/tenants/{tenant}".format(
            tenant=quote(str(tenant), safe=""),
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

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

    if response.status_code == 428:
        response_428 = Problem.from_dict(response.json())

        return response_428

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
    *,
    client: AuthenticatedClient | Client,
    confirm: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """Delete a tenant

     For operators and the tenant's owners. Its tokens are refused from now on, the streams of its nodes
    end; the proxies go on with
    what they have. After 30 days all of it is removed, with its audit events; until then its slug stays
    taken, and an operator can restore it. While nodes are connected it
    asks: 428 tells how many, and what is sent again with the answer's `token` as `confirm` is done.

    Args:
        tenant (str):
        confirm (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        confirm=confirm,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    confirm: str | Unset = UNSET,
) -> Any | Problem | None:
    """Delete a tenant

     For operators and the tenant's owners. Its tokens are refused from now on, the streams of its nodes
    end; the proxies go on with
    what they have. After 30 days all of it is removed, with its audit events; until then its slug stays
    taken, and an operator can restore it. While nodes are connected it
    asks: 428 tells how many, and what is sent again with the answer's `token` as `confirm` is done.

    Args:
        tenant (str):
        confirm (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return sync_detailed(
        tenant=tenant,
        client=client,
        confirm=confirm,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    confirm: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """Delete a tenant

     For operators and the tenant's owners. Its tokens are refused from now on, the streams of its nodes
    end; the proxies go on with
    what they have. After 30 days all of it is removed, with its audit events; until then its slug stays
    taken, and an operator can restore it. While nodes are connected it
    asks: 428 tells how many, and what is sent again with the answer's `token` as `confirm` is done.

    Args:
        tenant (str):
        confirm (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        confirm=confirm,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    confirm: str | Unset = UNSET,
) -> Any | Problem | None:
    """Delete a tenant

     For operators and the tenant's owners. Its tokens are refused from now on, the streams of its nodes
    end; the proxies go on with
    what they have. After 30 days all of it is removed, with its audit events; until then its slug stays
    taken, and an operator can restore it. While nodes are connected it
    asks: 428 tells how many, and what is sent again with the answer's `token` as `confirm` is done.

    Args:
        tenant (str):
        confirm (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            client=client,
            confirm=confirm,
        )
    ).parsed
