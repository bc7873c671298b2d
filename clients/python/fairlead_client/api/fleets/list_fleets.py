from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.deleted_state import DeletedState
from ...models.fleet_list import FleetList
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    *,
    state: DeletedState | Unset = UNSET,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    counts: bool | Unset = False,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_state: str | Unset = UNSET
    if not isinstance(state, Unset):
        json_state = state.value

    params["state"] = json_state

    params["prefix"] = prefix

    params["limit"] = limit

    params["cursor"] = cursor

    params["counts"] = counts

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/fleets".format(
            tenant=quote(str(tenant), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> FleetList | Problem:
    if response.status_code == 200:
        response_200 = FleetList.from_dict(response.json())

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
) -> Response[FleetList | Problem]:
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
    state: DeletedState | Unset = UNSET,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    counts: bool | Unset = False,
) -> Response[FleetList | Problem]:
    """List the fleets of a tenant

     With `state=deleted` those that were deleted and can be restored, by name; of one name there can be
    several.

    Args:
        tenant (str):
        state (DeletedState | Unset):
        prefix (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        counts (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[FleetList | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        state=state,
        prefix=prefix,
        limit=limit,
        cursor=cursor,
        counts=counts,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    state: DeletedState | Unset = UNSET,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    counts: bool | Unset = False,
) -> FleetList | Problem | None:
    """List the fleets of a tenant

     With `state=deleted` those that were deleted and can be restored, by name; of one name there can be
    several.

    Args:
        tenant (str):
        state (DeletedState | Unset):
        prefix (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        counts (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        FleetList | Problem
    """

    return sync_detailed(
        tenant=tenant,
        client=client,
        state=state,
        prefix=prefix,
        limit=limit,
        cursor=cursor,
        counts=counts,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    state: DeletedState | Unset = UNSET,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    counts: bool | Unset = False,
) -> Response[FleetList | Problem]:
    """List the fleets of a tenant

     With `state=deleted` those that were deleted and can be restored, by name; of one name there can be
    several.

    Args:
        tenant (str):
        state (DeletedState | Unset):
        prefix (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        counts (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[FleetList | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        state=state,
        prefix=prefix,
        limit=limit,
        cursor=cursor,
        counts=counts,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    *,
    client: AuthenticatedClient | Client,
    state: DeletedState | Unset = UNSET,
    prefix: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
    counts: bool | Unset = False,
) -> FleetList | Problem | None:
    """List the fleets of a tenant

     With `state=deleted` those that were deleted and can be restored, by name; of one name there can be
    several.

    Args:
        tenant (str):
        state (DeletedState | Unset):
        prefix (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):
        counts (bool | Unset):  Default: False.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        FleetList | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            client=client,
            state=state,
            prefix=prefix,
            limit=limit,
            cursor=cursor,
            counts=counts,
        )
    ).parsed
