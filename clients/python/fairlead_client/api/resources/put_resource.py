from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.resource_input import ResourceInput
from ...models.resource_type import ResourceType
from ...models.write_result import WriteResult
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    type_: ResourceType,
    name: str,
    *,
    body: ResourceInput,
    message: str | Unset = UNSET,
    variant: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    params["message"] = message

    params["variant"] = variant

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "put",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/resources/{type_}/{name}".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
            type_=quote(str(type_), safe=""),
            name=quote(str(name), safe=""),
        ),
        "params": params,
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

    if response.status_code == 201:
        response_201 = WriteResult.from_dict(response.json())

        return response_201

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
    body: ResourceInput,
    message: str | Unset = UNSET,
    variant: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Problem | WriteResult]:
    """Write a resource

     The body is a document, or Envoy's own message with its `@type`, or a `resources:` list that holds
    just that one.
    Equal content changes nothing and makes no revision. Without a precondition the last writer wins.
    With an `Idempotency-Key` a repeat of the same
    request gets the first one's answer and changes nothing.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        name (str):
        message (str | Unset):
        variant (str | Unset):
        if_match (str | Unset):
        if_none_match (str | Unset):
        idempotency_key (str | Unset):
        body (ResourceInput): A document `{type, name, variant, selector, priority, ttl, delivery,
            labels, description, body}` whose type and name agree with the path where they
            stand, or Envoy's own message with `@type`. A document may carry the `revision` or the
            `etag` that it was read at, as an answer has them: where others have
            changed the resource since, and this would change it, it is 412. Unknown fields are
            refused, in the document and in every message inside. A private key, a password or a
            token in any other resource than a secret is `inline_key`: put it into a secret and name
            it with `sds_config`. A source (`ads`, `self`) that would make a
            proxy ask for a type of resource that is not served is `type_not_served`. `[redacted]`, as
            an answer has it, is `redacted`: write the value itself.
            In an apply or a plan `keep: true` in the place of the body stands for the resource as it
            is stored, a secret above all, which no answer shows: it is
            found unchanged, asks for no right, and is `not_stored` where there is none. What stands
            beside it must be what is stored (`keep_conflict`).

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
        body=body,
        message=message,
        variant=variant,
        if_match=if_match,
        if_none_match=if_none_match,
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
    body: ResourceInput,
    message: str | Unset = UNSET,
    variant: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Problem | WriteResult | None:
    """Write a resource

     The body is a document, or Envoy's own message with its `@type`, or a `resources:` list that holds
    just that one.
    Equal content changes nothing and makes no revision. Without a precondition the last writer wins.
    With an `Idempotency-Key` a repeat of the same
    request gets the first one's answer and changes nothing.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        name (str):
        message (str | Unset):
        variant (str | Unset):
        if_match (str | Unset):
        if_none_match (str | Unset):
        idempotency_key (str | Unset):
        body (ResourceInput): A document `{type, name, variant, selector, priority, ttl, delivery,
            labels, description, body}` whose type and name agree with the path where they
            stand, or Envoy's own message with `@type`. A document may carry the `revision` or the
            `etag` that it was read at, as an answer has them: where others have
            changed the resource since, and this would change it, it is 412. Unknown fields are
            refused, in the document and in every message inside. A private key, a password or a
            token in any other resource than a secret is `inline_key`: put it into a secret and name
            it with `sds_config`. A source (`ads`, `self`) that would make a
            proxy ask for a type of resource that is not served is `type_not_served`. `[redacted]`, as
            an answer has it, is `redacted`: write the value itself.
            In an apply or a plan `keep: true` in the place of the body stands for the resource as it
            is stored, a secret above all, which no answer shows: it is
            found unchanged, asks for no right, and is `not_stored` where there is none. What stands
            beside it must be what is stored (`keep_conflict`).

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
        body=body,
        message=message,
        variant=variant,
        if_match=if_match,
        if_none_match=if_none_match,
        idempotency_key=idempotency_key,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    type_: ResourceType,
    name: str,
    *,
    client: AuthenticatedClient | Client,
    body: ResourceInput,
    message: str | Unset = UNSET,
    variant: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Problem | WriteResult]:
    """Write a resource

     The body is a document, or Envoy's own message with its `@type`, or a `resources:` list that holds
    just that one.
    Equal content changes nothing and makes no revision. Without a precondition the last writer wins.
    With an `Idempotency-Key` a repeat of the same
    request gets the first one's answer and changes nothing.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        name (str):
        message (str | Unset):
        variant (str | Unset):
        if_match (str | Unset):
        if_none_match (str | Unset):
        idempotency_key (str | Unset):
        body (ResourceInput): A document `{type, name, variant, selector, priority, ttl, delivery,
            labels, description, body}` whose type and name agree with the path where they
            stand, or Envoy's own message with `@type`. A document may carry the `revision` or the
            `etag` that it was read at, as an answer has them: where others have
            changed the resource since, and this would change it, it is 412. Unknown fields are
            refused, in the document and in every message inside. A private key, a password or a
            token in any other resource than a secret is `inline_key`: put it into a secret and name
            it with `sds_config`. A source (`ads`, `self`) that would make a
            proxy ask for a type of resource that is not served is `type_not_served`. `[redacted]`, as
            an answer has it, is `redacted`: write the value itself.
            In an apply or a plan `keep: true` in the place of the body stands for the resource as it
            is stored, a secret above all, which no answer shows: it is
            found unchanged, asks for no right, and is `not_stored` where there is none. What stands
            beside it must be what is stored (`keep_conflict`).

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
        body=body,
        message=message,
        variant=variant,
        if_match=if_match,
        if_none_match=if_none_match,
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
    body: ResourceInput,
    message: str | Unset = UNSET,
    variant: str | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Problem | WriteResult | None:
    """Write a resource

     The body is a document, or Envoy's own message with its `@type`, or a `resources:` list that holds
    just that one.
    Equal content changes nothing and makes no revision. Without a precondition the last writer wins.
    With an `Idempotency-Key` a repeat of the same
    request gets the first one's answer and changes nothing.

    Args:
        tenant (str):
        fleet (str):
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        name (str):
        message (str | Unset):
        variant (str | Unset):
        if_match (str | Unset):
        if_none_match (str | Unset):
        idempotency_key (str | Unset):
        body (ResourceInput): A document `{type, name, variant, selector, priority, ttl, delivery,
            labels, description, body}` whose type and name agree with the path where they
            stand, or Envoy's own message with `@type`. A document may carry the `revision` or the
            `etag` that it was read at, as an answer has them: where others have
            changed the resource since, and this would change it, it is 412. Unknown fields are
            refused, in the document and in every message inside. A private key, a password or a
            token in any other resource than a secret is `inline_key`: put it into a secret and name
            it with `sds_config`. A source (`ads`, `self`) that would make a
            proxy ask for a type of resource that is not served is `type_not_served`. `[redacted]`, as
            an answer has it, is `redacted`: write the value itself.
            In an apply or a plan `keep: true` in the place of the body stands for the resource as it
            is stored, a secret above all, which no answer shows: it is
            found unchanged, asks for no right, and is `not_stored` where there is none. What stands
            beside it must be what is stored (`keep_conflict`).

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
            body=body,
            message=message,
            variant=variant,
            if_match=if_match,
            if_none_match=if_none_match,
            idempotency_key=idempotency_key,
        )
    ).parsed
