from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.get_schema_response_200 import GetSchemaResponse200
from ...models.problem import Problem
from ...models.resource_type import ResourceType
from ...types import UNSET, Response, Unset


def _get_kwargs(
    type_: ResourceType,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/schemas/{type_}".format(
            type_=quote(str(type_), safe=""),
        ),
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | GetSchemaResponse200 | Problem:
    if response.status_code == 200:
        response_200 = GetSchemaResponse200.from_dict(response.json())

        return response_200

    if response.status_code == 304:
        response_304 = cast(Any, None)
        return response_304

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Any | GetSchemaResponse200 | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    type_: ResourceType,
    *,
    client: AuthenticatedClient | Client,
    if_none_match: str | Unset = UNSET,
) -> Response[Any | GetSchemaResponse200 | Problem]:
    """Read the JSON Schema of the body of a type of resource

     Made of Envoy's own descriptors and the rules in them: fields by their names in the proto files (the
    other spelling is allowed), enums, bounds, what must be set,
    and of each message where Envoy's documentation speaks of it. Where an extension stands, the `@type`
    lists those that are known, and a `$ref` leads to each one's schema. A body
    that the schema refuses is refused by a write too, but for `null`; a write looks at more. It is the
    same until the server is updated.

    Args:
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        if_none_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | GetSchemaResponse200 | Problem]
    """

    kwargs = _get_kwargs(
        type_=type_,
        if_none_match=if_none_match,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    type_: ResourceType,
    *,
    client: AuthenticatedClient | Client,
    if_none_match: str | Unset = UNSET,
) -> Any | GetSchemaResponse200 | Problem | None:
    """Read the JSON Schema of the body of a type of resource

     Made of Envoy's own descriptors and the rules in them: fields by their names in the proto files (the
    other spelling is allowed), enums, bounds, what must be set,
    and of each message where Envoy's documentation speaks of it. Where an extension stands, the `@type`
    lists those that are known, and a `$ref` leads to each one's schema. A body
    that the schema refuses is refused by a write too, but for `null`; a write looks at more. It is the
    same until the server is updated.

    Args:
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        if_none_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | GetSchemaResponse200 | Problem
    """

    return sync_detailed(
        type_=type_,
        client=client,
        if_none_match=if_none_match,
    ).parsed


async def asyncio_detailed(
    type_: ResourceType,
    *,
    client: AuthenticatedClient | Client,
    if_none_match: str | Unset = UNSET,
) -> Response[Any | GetSchemaResponse200 | Problem]:
    """Read the JSON Schema of the body of a type of resource

     Made of Envoy's own descriptors and the rules in them: fields by their names in the proto files (the
    other spelling is allowed), enums, bounds, what must be set,
    and of each message where Envoy's documentation speaks of it. Where an extension stands, the `@type`
    lists those that are known, and a `$ref` leads to each one's schema. A body
    that the schema refuses is refused by a write too, but for `null`; a write looks at more. It is the
    same until the server is updated.

    Args:
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        if_none_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | GetSchemaResponse200 | Problem]
    """

    kwargs = _get_kwargs(
        type_=type_,
        if_none_match=if_none_match,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    type_: ResourceType,
    *,
    client: AuthenticatedClient | Client,
    if_none_match: str | Unset = UNSET,
) -> Any | GetSchemaResponse200 | Problem | None:
    """Read the JSON Schema of the body of a type of resource

     Made of Envoy's own descriptors and the rules in them: fields by their names in the proto files (the
    other spelling is allowed), enums, bounds, what must be set,
    and of each message where Envoy's documentation speaks of it. Where an extension stands, the `@type`
    lists those that are known, and a `$ref` leads to each one's schema. A body
    that the schema refuses is refused by a write too, but for `null`; a write looks at more. It is the
    same until the server is updated.

    Args:
        type_ (ResourceType): The resource's type, by the name of its list. Example: clusters.
        if_none_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | GetSchemaResponse200 | Problem
    """

    return (
        await asyncio_detailed(
            type_=type_,
            client=client,
            if_none_match=if_none_match,
        )
    ).parsed
