from http import HTTPStatus
from typing import Any, cast

import httpx

from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.sign_in import SignIn
from ...types import Response


def _get_kwargs(
    *,
    body: SignIn,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/session",
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Any | Problem:
    if response.status_code == 204:
        response_204 = cast(Any, None)
        return response_204

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 403:
        response_403 = Problem.from_dict(response.json())

        return response_403

    if response.status_code == 409:
        response_409 = Problem.from_dict(response.json())

        return response_409

    if response.status_code == 429:
        response_429 = Problem.from_dict(response.json())

        return response_429

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Any | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: SignIn,
) -> Response[Any | Problem]:
    """Begin a session

     For browsers: takes an API token, and answers with the cookie of a session, which acts as the token.
    It ends after 12 hours, after 30 minutes without use, with the
    token, or by `DELETE`. The session whose cookie was sent along ends too, and the oldest of 20 that
    are open of the token. A stream is no use, nor is a request that
    waits (`wait`), nor `GET /v1/whoami`. A request that a page of another site made is refused.

    Args:
        body (SignIn):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient | Client,
    body: SignIn,
) -> Any | Problem | None:
    """Begin a session

     For browsers: takes an API token, and answers with the cookie of a session, which acts as the token.
    It ends after 12 hours, after 30 minutes without use, with the
    token, or by `DELETE`. The session whose cookie was sent along ends too, and the oldest of 20 that
    are open of the token. A stream is no use, nor is a request that
    waits (`wait`), nor `GET /v1/whoami`. A request that a page of another site made is refused.

    Args:
        body (SignIn):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return sync_detailed(
        client=client,
        body=body,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: SignIn,
) -> Response[Any | Problem]:
    """Begin a session

     For browsers: takes an API token, and answers with the cookie of a session, which acts as the token.
    It ends after 12 hours, after 30 minutes without use, with the
    token, or by `DELETE`. The session whose cookie was sent along ends too, and the oldest of 20 that
    are open of the token. A stream is no use, nor is a request that
    waits (`wait`), nor `GET /v1/whoami`. A request that a page of another site made is refused.

    Args:
        body (SignIn):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Any | Problem]
    """

    kwargs = _get_kwargs(
        body=body,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient | Client,
    body: SignIn,
) -> Any | Problem | None:
    """Begin a session

     For browsers: takes an API token, and answers with the cookie of a session, which acts as the token.
    It ends after 12 hours, after 30 minutes without use, with the
    token, or by `DELETE`. The session whose cookie was sent along ends too, and the oldest of 20 that
    are open of the token. A stream is no use, nor is a request that
    waits (`wait`), nor `GET /v1/whoami`. A request that a page of another site made is refused.

    Args:
        body (SignIn):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Any | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            body=body,
        )
    ).parsed
