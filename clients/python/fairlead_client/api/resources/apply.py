from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.apply_input import ApplyInput
from ...models.problem import Problem
from ...models.write_result import WriteResult
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    *,
    body: ApplyInput,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/apply".format(
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

    if response.status_code == 412:
        response_412 = Problem.from_dict(response.json())

        return response_412

    if response.status_code == 413:
        response_413 = Problem.from_dict(response.json())

        return response_413

    if response.status_code == 415:
        response_415 = Problem.from_dict(response.json())

        return response_415

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
    body: ApplyInput,
    idempotency_key: str | Unset = UNSET,
) -> Response[Problem | WriteResult]:
    """Write many resources as one revision

     All or none. `resources` holds documents, or Envoy's own messages with `@type` as in a file that
    Envoy reads itself; both may be mixed.
    With an `Idempotency-Key` a repeat of the same request gets the first one's answer and changes
    nothing. Of what `delete` names and is not there nothing
    changes, and the warning `absent` says so.

    `plan` is the token of a plan: what is applied is what was planned, the same content on the same
    state of every resource that it
    names, or else it is 412. What others wrote of other resources meanwhile does not matter;
    `expected_revision` is for who wants that.

    Who would delete more than half of a type, and three resources of it at least, is asked: 428 tells
    how many, and what is sent again with the answer's
    `token` as `confirm` is done. A plan tells the same beforehand.

    Args:
        tenant (str):
        fleet (str):
        idempotency_key (str | Unset):
        body (ApplyInput): Documents to write and resources to delete, as one revision; at least
            one of the two lists.

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
    body: ApplyInput,
    idempotency_key: str | Unset = UNSET,
) -> Problem | WriteResult | None:
    """Write many resources as one revision

     All or none. `resources` holds documents, or Envoy's own messages with `@type` as in a file that
    Envoy reads itself; both may be mixed.
    With an `Idempotency-Key` a repeat of the same request gets the first one's answer and changes
    nothing. Of what `delete` names and is not there nothing
    changes, and the warning `absent` says so.

    `plan` is the token of a plan: what is applied is what was planned, the same content on the same
    state of every resource that it
    names, or else it is 412. What others wrote of other resources meanwhile does not matter;
    `expected_revision` is for who wants that.

    Who would delete more than half of a type, and three resources of it at least, is asked: 428 tells
    how many, and what is sent again with the answer's
    `token` as `confirm` is done. A plan tells the same beforehand.

    Args:
        tenant (str):
        fleet (str):
        idempotency_key (str | Unset):
        body (ApplyInput): Documents to write and resources to delete, as one revision; at least
            one of the two lists.

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
    body: ApplyInput,
    idempotency_key: str | Unset = UNSET,
) -> Response[Problem | WriteResult]:
    """Write many resources as one revision

     All or none. `resources` holds documents, or Envoy's own messages with `@type` as in a file that
    Envoy reads itself; both may be mixed.
    With an `Idempotency-Key` a repeat of the same request gets the first one's answer and changes
    nothing. Of what `delete` names and is not there nothing
    changes, and the warning `absent` says so.

    `plan` is the token of a plan: what is applied is what was planned, the same content on the same
    state of every resource that it
    names, or else it is 412. What others wrote of other resources meanwhile does not matter;
    `expected_revision` is for who wants that.

    Who would delete more than half of a type, and three resources of it at least, is asked: 428 tells
    how many, and what is sent again with the answer's
    `token` as `confirm` is done. A plan tells the same beforehand.

    Args:
        tenant (str):
        fleet (str):
        idempotency_key (str | Unset):
        body (ApplyInput): Documents to write and resources to delete, as one revision; at least
            one of the two lists.

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
    body: ApplyInput,
    idempotency_key: str | Unset = UNSET,
) -> Problem | WriteResult | None:
    """Write many resources as one revision

     All or none. `resources` holds documents, or Envoy's own messages with `@type` as in a file that
    Envoy reads itself; both may be mixed.
    With an `Idempotency-Key` a repeat of the same request gets the first one's answer and changes
    nothing. Of what `delete` names and is not there nothing
    changes, and the warning `absent` says so.

    `plan` is the token of a plan: what is applied is what was planned, the same content on the same
    state of every resource that it
    names, or else it is 412. What others wrote of other resources meanwhile does not matter;
    `expected_revision` is for who wants that.

    Who would delete more than half of a type, and three resources of it at least, is asked: 428 tells
    how many, and what is sent again with the answer's
    `token` as `confirm` is done. A plan tells the same beforehand.

    Args:
        tenant (str):
        fleet (str):
        idempotency_key (str | Unset):
        body (ApplyInput): Documents to write and resources to delete, as one revision; at least
            one of the two lists.

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
