from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.get_receipt_state import GetReceiptState
from ...models.problem import Problem
from ...models.receipt import Receipt
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    revision: str,
    *,
    wait: str | Unset = UNSET,
    state: GetReceiptState | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["wait"] = wait

    json_state: str | Unset = UNSET
    if not isinstance(state, Unset):
        json_state = state.value

    params["state"] = json_state

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/revisions/{revision}/receipt".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
            revision=quote(str(revision), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | Receipt:
    if response.status_code == 200:
        response_200 = Receipt.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

    if response.status_code == 410:
        response_410 = Problem.from_dict(response.json())

        return response_410

    if response.status_code == 503:
        response_503 = Problem.from_dict(response.json())

        return response_503

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Problem | Receipt]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    tenant: str,
    fleet: str,
    revision: str,
    *,
    client: AuthenticatedClient | Client,
    wait: str | Unset = UNSET,
    state: GetReceiptState | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[Problem | Receipt]:
    """Tell which nodes run a revision

     With `wait` the answer comes at the first refusal, or when no node is pending any more, or when what
    the pending nodes have not is withheld from
    all of them, or after that time with what is known then. With `state` it lists the nodes of that
    state, by id, page by page.

    Args:
        tenant (str):
        fleet (str):
        revision (str): The number of a revision, or `latest` for the newest one. Example: 7.
        wait (str | Unset):
        state (GetReceiptState | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Receipt]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        revision=revision,
        wait=wait,
        state=state,
        limit=limit,
        cursor=cursor,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    tenant: str,
    fleet: str,
    revision: str,
    *,
    client: AuthenticatedClient | Client,
    wait: str | Unset = UNSET,
    state: GetReceiptState | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Problem | Receipt | None:
    """Tell which nodes run a revision

     With `wait` the answer comes at the first refusal, or when no node is pending any more, or when what
    the pending nodes have not is withheld from
    all of them, or after that time with what is known then. With `state` it lists the nodes of that
    state, by id, page by page.

    Args:
        tenant (str):
        fleet (str):
        revision (str): The number of a revision, or `latest` for the newest one. Example: 7.
        wait (str | Unset):
        state (GetReceiptState | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Receipt
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        revision=revision,
        client=client,
        wait=wait,
        state=state,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    revision: str,
    *,
    client: AuthenticatedClient | Client,
    wait: str | Unset = UNSET,
    state: GetReceiptState | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[Problem | Receipt]:
    """Tell which nodes run a revision

     With `wait` the answer comes at the first refusal, or when no node is pending any more, or when what
    the pending nodes have not is withheld from
    all of them, or after that time with what is known then. With `state` it lists the nodes of that
    state, by id, page by page.

    Args:
        tenant (str):
        fleet (str):
        revision (str): The number of a revision, or `latest` for the newest one. Example: 7.
        wait (str | Unset):
        state (GetReceiptState | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Receipt]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        revision=revision,
        wait=wait,
        state=state,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    revision: str,
    *,
    client: AuthenticatedClient | Client,
    wait: str | Unset = UNSET,
    state: GetReceiptState | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Problem | Receipt | None:
    """Tell which nodes run a revision

     With `wait` the answer comes at the first refusal, or when no node is pending any more, or when what
    the pending nodes have not is withheld from
    all of them, or after that time with what is known then. With `state` it lists the nodes of that
    state, by id, page by page.

    Args:
        tenant (str):
        fleet (str):
        revision (str): The number of a revision, or `latest` for the newest one. Example: 7.
        wait (str | Unset):
        state (GetReceiptState | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Receipt
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            revision=revision,
            client=client,
            wait=wait,
            state=state,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
