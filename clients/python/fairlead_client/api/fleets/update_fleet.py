from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.fleet import Fleet
from ...models.fleet_update import FleetUpdate
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    *,
    body: FleetUpdate,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
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

    if response.status_code == 412:
        response_412 = Problem.from_dict(response.json())

        return response_412

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
    body: FleetUpdate,
    if_match: str | Unset = UNSET,
) -> Response[Fleet | Problem]:
    """Change a fleet's settings

     Everything but its name, by which proxies, tokens and scripts know it. What is left out stays as it
    is. The revision does not move; what is stored already is
    not looked at. With `If-Match` it is 412 where the settings are other ones by now.

    Args:
        tenant (str):
        fleet (str):
        if_match (str | Unset):
        body (FleetUpdate):  Example: {'references': 'strict'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fleet | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        body=body,
        if_match=if_match,
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
    body: FleetUpdate,
    if_match: str | Unset = UNSET,
) -> Fleet | Problem | None:
    """Change a fleet's settings

     Everything but its name, by which proxies, tokens and scripts know it. What is left out stays as it
    is. The revision does not move; what is stored already is
    not looked at. With `If-Match` it is 412 where the settings are other ones by now.

    Args:
        tenant (str):
        fleet (str):
        if_match (str | Unset):
        body (FleetUpdate):  Example: {'references': 'strict'}.

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
        body=body,
        if_match=if_match,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    body: FleetUpdate,
    if_match: str | Unset = UNSET,
) -> Response[Fleet | Problem]:
    """Change a fleet's settings

     Everything but its name, by which proxies, tokens and scripts know it. What is left out stays as it
    is. The revision does not move; what is stored already is
    not looked at. With `If-Match` it is 412 where the settings are other ones by now.

    Args:
        tenant (str):
        fleet (str):
        if_match (str | Unset):
        body (FleetUpdate):  Example: {'references': 'strict'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Fleet | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        body=body,
        if_match=if_match,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    body: FleetUpdate,
    if_match: str | Unset = UNSET,
) -> Fleet | Problem | None:
    """Change a fleet's settings

     Everything but its name, by which proxies, tokens and scripts know it. What is left out stays as it
    is. The revision does not move; what is stored already is
    not looked at. With `If-Match` it is 412 where the settings are other ones by now.

    Args:
        tenant (str):
        fleet (str):
        if_match (str | Unset):
        body (FleetUpdate):  Example: {'references': 'strict'}.

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
            body=body,
            if_match=if_match,
        )
    ).parsed
