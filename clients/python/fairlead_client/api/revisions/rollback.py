from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.rollback_request import RollbackRequest
from ...models.write_result import WriteResult
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    *,
    body: RollbackRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/rollback".format(
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

    if response.status_code == 410:
        response_410 = Problem.from_dict(response.json())

        return response_410

    if response.status_code == 412:
        response_412 = Problem.from_dict(response.json())

        return response_412

    if response.status_code == 422:
        response_422 = Problem.from_dict(response.json())

        return response_422

    if response.status_code == 428:
        response_428 = Problem.from_dict(response.json())

        return response_428

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
    *,
    client: AuthenticatedClient | Client,
    body: RollbackRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Problem | WriteResult]:
    """Make a new revision with the content of an old one

     Of the whole fleet, or of some resources. The versions of the resources are the old ones, so a proxy
    that still has them is sent nothing. A rollback asks what an apply of
    the same content would ask: the right to write secrets where one is put back or deleted, the guard
    rules, and every check of
    today. Each fault's pointer begins with the resource, `/resources/{type}/{name}/body/...`, or
    `/resources/{type}/{name}/variants/{variant}/body/...`; a key in a text beside the body is told at
    `/description` or `/labels` there.

    Who would remove more than ten resources, or more than half of a type and three of it at least, or
    bring a version back that nodes have refused, is
    asked: 428 tells how many, and what is sent again with the answer's `token` as `confirm` is done.

    Args:
        tenant (str):
        fleet (str):
        idempotency_key (str | Unset):
        body (RollbackRequest):  Example: {'revision': 5, 'message': 'the new route answers 404'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | WriteResult]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        body=body,
        idempotency_key=idempotency_key,
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
    body: RollbackRequest,
    idempotency_key: str | Unset = UNSET,
) -> Problem | WriteResult | None:
    """Make a new revision with the content of an old one

     Of the whole fleet, or of some resources. The versions of the resources are the old ones, so a proxy
    that still has them is sent nothing. A rollback asks what an apply of
    the same content would ask: the right to write secrets where one is put back or deleted, the guard
    rules, and every check of
    today. Each fault's pointer begins with the resource, `/resources/{type}/{name}/body/...`, or
    `/resources/{type}/{name}/variants/{variant}/body/...`; a key in a text beside the body is told at
    `/description` or `/labels` there.

    Who would remove more than ten resources, or more than half of a type and three of it at least, or
    bring a version back that nodes have refused, is
    asked: 428 tells how many, and what is sent again with the answer's `token` as `confirm` is done.

    Args:
        tenant (str):
        fleet (str):
        idempotency_key (str | Unset):
        body (RollbackRequest):  Example: {'revision': 5, 'message': 'the new route answers 404'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | WriteResult
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    body: RollbackRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Problem | WriteResult]:
    """Make a new revision with the content of an old one

     Of the whole fleet, or of some resources. The versions of the resources are the old ones, so a proxy
    that still has them is sent nothing. A rollback asks what an apply of
    the same content would ask: the right to write secrets where one is put back or deleted, the guard
    rules, and every check of
    today. Each fault's pointer begins with the resource, `/resources/{type}/{name}/body/...`, or
    `/resources/{type}/{name}/variants/{variant}/body/...`; a key in a text beside the body is told at
    `/description` or `/labels` there.

    Who would remove more than ten resources, or more than half of a type and three of it at least, or
    bring a version back that nodes have refused, is
    asked: 428 tells how many, and what is sent again with the answer's `token` as `confirm` is done.

    Args:
        tenant (str):
        fleet (str):
        idempotency_key (str | Unset):
        body (RollbackRequest):  Example: {'revision': 5, 'message': 'the new route answers 404'}.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | WriteResult]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        body=body,
        idempotency_key=idempotency_key,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    body: RollbackRequest,
    idempotency_key: str | Unset = UNSET,
) -> Problem | WriteResult | None:
    """Make a new revision with the content of an old one

     Of the whole fleet, or of some resources. The versions of the resources are the old ones, so a proxy
    that still has them is sent nothing. A rollback asks what an apply of
    the same content would ask: the right to write secrets where one is put back or deleted, the guard
    rules, and every check of
    today. Each fault's pointer begins with the resource, `/resources/{type}/{name}/body/...`, or
    `/resources/{type}/{name}/variants/{variant}/body/...`; a key in a text beside the body is told at
    `/description` or `/labels` there.

    Who would remove more than ten resources, or more than half of a type and three of it at least, or
    bring a version back that nodes have refused, is
    asked: 428 tells how many, and what is sent again with the answer's `token` as `confirm` is done.

    Args:
        tenant (str):
        fleet (str):
        idempotency_key (str | Unset):
        body (RollbackRequest):  Example: {'revision': 5, 'message': 'the new route answers 404'}.

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
            client=client,
            body=body,
            idempotency_key=idempotency_key,
        )
    ).parsed
