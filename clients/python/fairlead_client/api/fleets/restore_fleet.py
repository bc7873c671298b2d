from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fleet import Fleet
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    *,
    id: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["id"] = id

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/restore".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Fleet | Problem:
    if response.status_code == 200:
        response_200 = Fleet.from_dict(response.json())

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

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Fleet | Problem]:
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
    id: str | Unset = UNSET,
) -> Response[Fleet | Problem]:
    """Take back the deletion of a fleet

     Within 30 days. The fleet is what it was: its resources, history and settings, the credentials of
    its nodes and the tokens that are bound to it, but for what has ended
    meanwhile. Its nodes can connect again within a minute. Where another fleet has the name by now it
    is 409: a fleet cannot be given another name, so the other one has to go first.

    Args:
        tenant (str):
        fleet (str):
        id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fleet | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        id=id,
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
    id: str | Unset = UNSET,
) -> Fleet | Problem | None:
    """Take back the deletion of a fleet

     Within 30 days. The fleet is what it was: its resources, history and settings, the credentials of
    its nodes and the tokens that are bound to it, but for what has ended
    meanwhile. Its nodes can connect again within a minute. Where another fleet has the name by now it
    is 409: a fleet cannot be given another name, so the other one has to go first.

    Args:
        tenant (str):
        fleet (str):
        id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fleet | Problem
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        client=client,
        id=id,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    id: str | Unset = UNSET,
) -> Response[Fleet | Problem]:
    """Take back the deletion of a fleet

     Within 30 days. The fleet is what it was: its resources, history and settings, the credentials of
    its nodes and the tokens that are bound to it, but for what has ended
    meanwhile. Its nodes can connect again within a minute. Where another fleet has the name by now it
    is 409: a fleet cannot be given another name, so the other one has to go first.

    Args:
        tenant (str):
        fleet (str):
        id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fleet | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        id=id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    id: str | Unset = UNSET,
) -> Fleet | Problem | None:
    """Take back the deletion of a fleet

     Within 30 days. The fleet is what it was: its resources, history and settings, the credentials of
    its nodes and the tokens that are bound to it, but for what has ended
    meanwhile. Its nodes can connect again within a minute. Where another fleet has the name by now it
    is 409: a fleet cannot be given another name, so the other one has to go first.

    Args:
        tenant (str):
        fleet (str):
        id (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Fleet | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            client=client,
            id=id,
        )
    ).parsed
