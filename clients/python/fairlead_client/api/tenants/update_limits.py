from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.limits import Limits
from ...models.limits_update import LimitsUpdate
from ...models.problem import Problem
from ...types import Response


def _get_kwargs(
    tenant: str,
    *,
    body: LimitsUpdate,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "patch",
        "url": "/v1/tenants/{tenant}/limits".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Limits | Problem:
    if response.status_code == 200:
        response_200 = Limits.from_dict(response.json())

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
) -> Response[Limits | Problem]:
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
    body: LimitsUpdate,
) -> Response[Limits | Problem]:
    """Change limits of a tenant

     For operators. The body is an object of limits by name; `null` brings the default back, what is left
    out stays. The tenant finds it among its audit
    events. What is stored already stays, also above a limit that is lowered: it can then only become
    less. API servers take a new rate within 10 s.

    Args:
        tenant (str):
        body (LimitsUpdate): By the names of `LimitName`. Example: {'fleets': 500, 'fleet_bytes':
            None}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Limits | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    body: LimitsUpdate,
) -> Limits | Problem | None:
    """Change limits of a tenant

     For operators. The body is an object of limits by name; `null` brings the default back, what is left
    out stays. The tenant finds it among its audit
    events. What is stored already stays, also above a limit that is lowered: it can then only become
    less. API servers take a new rate within 10 s.

    Args:
        tenant (str):
        body (LimitsUpdate): By the names of `LimitName`. Example: {'fleets': 500, 'fleet_bytes':
            None}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Limits | Problem
    """

    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    body: LimitsUpdate,
) -> Response[Limits | Problem]:
    """Change limits of a tenant

     For operators. The body is an object of limits by name; `null` brings the default back, what is left
    out stays. The tenant finds it among its audit
    events. What is stored already stays, also above a limit that is lowered: it can then only become
    less. API servers take a new rate within 10 s.

    Args:
        tenant (str):
        body (LimitsUpdate): By the names of `LimitName`. Example: {'fleets': 500, 'fleet_bytes':
            None}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Limits | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    body: LimitsUpdate,
) -> Limits | Problem | None:
    """Change limits of a tenant

     For operators. The body is an object of limits by name; `null` brings the default back, what is left
    out stays. The tenant finds it among its audit
    events. What is stored already stays, also above a limit that is lowered: it can then only become
    less. API servers take a new rate within 10 s.

    Args:
        tenant (str):
        body (LimitsUpdate): By the names of `LimitName`. Example: {'fleets': 500, 'fleet_bytes':
            None}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Limits | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            client=client,
            body=body,
        )
    ).parsed
