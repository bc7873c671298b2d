from http import HTTPStatus
from typing import Any, cast
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.get_message_schema_response_200 import GetMessageSchemaResponse200
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    message: str,
    *,
    if_none_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = if_none_match

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/schemas/type/{message}".format(
            message=quote(str(message), safe=""),
        ),
    }

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | GetMessageSchemaResponse200 | Problem:
    if response.status_code == 200:
        response_200 = GetMessageSchemaResponse200.from_dict(response.json())

        return response_200

    if response.status_code == 304:
        response_304 = cast(Any, None)
        return response_304

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Any | GetMessageSchemaResponse200 | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    message: str,
    *,
    client: AuthenticatedClient | Client,
    if_none_match: str | Unset = UNSET,
) -> Response[Any | GetMessageSchemaResponse200 | Problem]:
    """Read the JSON Schema of a message, which an extension holds

     As that of a type of resource, with its `@type`.

    Args:
        message (str):
        if_none_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | GetMessageSchemaResponse200 | Problem]
    """

    kwargs = _get_kwargs(
        message=message,
        if_none_match=if_none_match,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    message: str,
    *,
    client: AuthenticatedClient | Client,
    if_none_match: str | Unset = UNSET,
) -> Any | GetMessageSchemaResponse200 | Problem | None:
    """Read the JSON Schema of a message, which an extension holds

     As that of a type of resource, with its `@type`.

    Args:
        message (str):
        if_none_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | GetMessageSchemaResponse200 | Problem
    """

    return sync_detailed(
        message=message,
        client=client,
        if_none_match=if_none_match,
    ).parsed


async def asyncio_detailed(
    message: str,
    *,
    client: AuthenticatedClient | Client,
    if_none_match: str | Unset = UNSET,
) -> Response[Any | GetMessageSchemaResponse200 | Problem]:
    """Read the JSON Schema of a message, which an extension holds

     As that of a type of resource, with its `@type`.

    Args:
        message (str):
        if_none_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | GetMessageSchemaResponse200 | Problem]
    """

    kwargs = _get_kwargs(
        message=message,
        if_none_match=if_none_match,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    message: str,
    *,
    client: AuthenticatedClient | Client,
    if_none_match: str | Unset = UNSET,
) -> Any | GetMessageSchemaResponse200 | Problem | None:
    """Read the JSON Schema of a message, which an extension holds

     As that of a type of resource, with its `@type`.

    Args:
        message (str):
        if_none_match (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | GetMessageSchemaResponse200 | Problem
    """

    return (
        await asyncio_detailed(
            message=message,
            client=client,
            if_none_match=if_none_match,
        )
    ).parsed
