from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.resource_type import ResourceType
from ...models.write_result import WriteResult
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    type_: ResourceType,
    name: str,
    *,
    message: str | Unset = UNSET,
    variant: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    params["message"] = message

    params["variant"] = variant

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "delete",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/resources/{type_}/{name}".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
            type_=quote(str(type_), safe=""),
            name=quote(str(name), safe=""),
        ),
        "params": params,
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | WriteResult:
    if response.status_code == 200:
        response_200 = WriteResult.from_dict(response.json())

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

    if response.status_code == 422:
        response_422 = Problem.from_dict(response.json())

        return response_422

    if response.status_code == 503:
        response_503 = Problem.from_dict(response.json())

        return response_503

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Problem | WriteResult]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    tenant: str,
    fleet: str,
    type_: ResourceType,
    name: str,
    *,
    client: AuthenticatedClient | Client,
    message: str | Unset = UNSET,
    variant: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Problem | WriteResult]:
    """Delete a resource

     Afterwards it is not there. Where it was not there before, nothing changes, and the warning `absent`
    says so, as it does of an apply's `delete`. `If-Match: *`
    is for who wants that to be 412.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        name (str):
        message (str | Unset):
        variant (str | Unset):
        if_match (str | Unset):
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | WriteResult]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        type_=type_,
        name=name,
        message=message,
        variant=variant,
        if_match=if_match,
        idempotency_key=idempotency_key,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    fleet: str,
    type_: ResourceType,
    name: str,
    *,
    client: AuthenticatedClient | Client,
    message: str | Unset = UNSET,
    variant: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Problem | WriteResult | None:
    """Delete a resource

     Afterwards it is not there. Where it was not there before, nothing changes, and the warning `absent`
    says so, as it does of an apply's `delete`. `If-Match: *`
    is for who wants that to be 412.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        name (str):
        message (str | Unset):
        variant (str | Unset):
        if_match (str | Unset):
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | WriteResult
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        type_=type_,
        name=name,
        client=client,
        message=message,
        variant=variant,
        if_match=if_match,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    type_: ResourceType,
    name: str,
    *,
    client: AuthenticatedClient | Client,
    message: str | Unset = UNSET,
    variant: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Problem | WriteResult]:
    """Delete a resource

     Afterwards it is not there. Where it was not there before, nothing changes, and the warning `absent`
    says so, as it does of an apply's `delete`. `If-Match: *`
    is for who wants that to be 412.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        name (str):
        message (str | Unset):
        variant (str | Unset):
        if_match (str | Unset):
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | WriteResult]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        type_=type_,
        name=name,
        message=message,
        variant=variant,
        if_match=if_match,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    type_: ResourceType,
    name: str,
    *,
    client: AuthenticatedClient | Client,
    message: str | Unset = UNSET,
    variant: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Problem | WriteResult | None:
    """Delete a resource

     Afterwards it is not there. Where it was not there before, nothing changes, and the warning `absent`
    says so, as it does of an apply's `delete`. `If-Match: *`
    is for who wants that to be 412.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        name (str):
        message (str | Unset):
        variant (str | Unset):
        if_match (str | Unset):
        idempotency_key (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | WriteResult
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            type_=type_,
            name=name,
            client=client,
            message=message,
            variant=variant,
            if_match=if_match,
            idempotency_key=idempotency_key,
        )
    ).parsed
