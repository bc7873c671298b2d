from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    *,
    confirm: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["confirm"] = confirm

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
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
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    confirm: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """Delete a fleet

     The streams of its nodes end, and the name is free again. The proxies go on with what they have. For
    30 days it can be restored, then all of it is removed. While nodes are connected it
    asks: 428 tells how many, and what is sent again with the answer's `token` as `confirm` is done,
    unless the fleet has a newer revision by then.

    Args:
        tenant (str):
        fleet (str):
        confirm (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        confirm=confirm,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    confirm: str | Unset = UNSET,
) -> Any | Problem | None:
    """Delete a fleet

     The streams of its nodes end, and the name is free again. The proxies go on with what they have. For
    30 days it can be restored, then all of it is removed. While nodes are connected it
    asks: 428 tells how many, and what is sent again with the answer's `token` as `confirm` is done,
    unless the fleet has a newer revision by then.

    Args:
        tenant (str):
        fleet (str):
        confirm (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        client=client,
        confirm=confirm,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    confirm: str | Unset = UNSET,
) -> Response[Any | Problem]:
    """Delete a fleet

     The streams of its nodes end, and the name is free again. The proxies go on with what they have. For
    30 days it can be restored, then all of it is removed. While nodes are connected it
    asks: 428 tells how many, and what is sent again with the answer's `token` as `confirm` is done,
    unless the fleet has a newer revision by then.

    Args:
        tenant (str):
        fleet (str):
        confirm (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        confirm=confirm,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    confirm: str | Unset = UNSET,
) -> Any | Problem | None:
    """Delete a fleet

     The streams of its nodes end, and the name is free again. The proxies go on with what they have. For
    30 days it can be restored, then all of it is removed. While nodes are connected it
    asks: 428 tells how many, and what is sent again with the answer's `token` as `confirm` is done,
    unless the fleet has a newer revision by then.

    Args:
        tenant (str):
        fleet (str):
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
            fleet=fleet,
            client=client,
            confirm=confirm,
        )
    ).parsed
