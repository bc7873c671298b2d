from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.envoy_config import EnvoyConfig
from ...models.imported import Imported
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    *,
    body: EnvoyConfig,
    rds: bool | Unset = False,
    eds: bool | Unset = False,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    params: dict[str, Any] = {}

    params["rds"] = rds

    params["eds"] = eds

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "post",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/import".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
        ),
        "params": params,
    }

    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"

    _kwargs["headers"] = headers
    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Imported | Problem:
    if response.status_code == 200:
        response_200 = Imported.from_dict(response.json())

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

    if response.status_code == 413:
        response_413 = Problem.from_dict(response.json())

        return response_413

    if response.status_code == 415:
        response_415 = Problem.from_dict(response.json())

        return response_415

    if response.status_code == 422:
        response_422 = Problem.from_dict(response.json())

        return response_422

    response_default = Problem.from_dict(response.json())

    return response_default


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Imported | Problem]:
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
    body: EnvoyConfig,
    rds: bool | Unset = False,
    eds: bool | Unset = False,
) -> Response[Imported | Problem]:
    """Make documents of an Envoy's own configuration

     Takes a bootstrap with `static_resources`, the answer of Envoy's admin page at `/config_dump`, or
    `resources` as an Envoy reads them from a file (a DiscoveryResponse), of 4 MiB
    at most, and writes nothing: `resources` is for a `plan` or an `apply`. A reason begins with the
    line and the place, as a JSON pointer into what was sent, where these are known. What `fairlead
    import` prints with `--json`; docs/import.md. A private key that stands in what was sent stands in
    the secret that is made of it.

    Args:
        tenant (str):
        fleet (str):
        rds (bool | Unset):  Default: False.
        eds (bool | Unset):  Default: False.
        body (EnvoyConfig): An Envoy's bootstrap, what its admin page answers at `/config_dump`,
            or a DiscoveryResponse.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Imported | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        body=body,
        rds=rds,
        eds=eds,
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
    body: EnvoyConfig,
    rds: bool | Unset = False,
    eds: bool | Unset = False,
) -> Imported | Problem | None:
    """Make documents of an Envoy's own configuration

     Takes a bootstrap with `static_resources`, the answer of Envoy's admin page at `/config_dump`, or
    `resources` as an Envoy reads them from a file (a DiscoveryResponse), of 4 MiB
    at most, and writes nothing: `resources` is for a `plan` or an `apply`. A reason begins with the
    line and the place, as a JSON pointer into what was sent, where these are known. What `fairlead
    import` prints with `--json`; docs/import.md. A private key that stands in what was sent stands in
    the secret that is made of it.

    Args:
        tenant (str):
        fleet (str):
        rds (bool | Unset):  Default: False.
        eds (bool | Unset):  Default: False.
        body (EnvoyConfig): An Envoy's bootstrap, what its admin page answers at `/config_dump`,
            or a DiscoveryResponse.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Imported | Problem
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        client=client,
        body=body,
        rds=rds,
        eds=eds,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    body: EnvoyConfig,
    rds: bool | Unset = False,
    eds: bool | Unset = False,
) -> Response[Imported | Problem]:
    """Make documents of an Envoy's own configuration

     Takes a bootstrap with `static_resources`, the answer of Envoy's admin page at `/config_dump`, or
    `resources` as an Envoy reads them from a file (a DiscoveryResponse), of 4 MiB
    at most, and writes nothing: `resources` is for a `plan` or an `apply`. A reason begins with the
    line and the place, as a JSON pointer into what was sent, where these are known. What `fairlead
    import` prints with `--json`; docs/import.md. A private key that stands in what was sent stands in
    the secret that is made of it.

    Args:
        tenant (str):
        fleet (str):
        rds (bool | Unset):  Default: False.
        eds (bool | Unset):  Default: False.
        body (EnvoyConfig): An Envoy's bootstrap, what its admin page answers at `/config_dump`,
            or a DiscoveryResponse.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Imported | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        body=body,
        rds=rds,
        eds=eds,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    body: EnvoyConfig,
    rds: bool | Unset = False,
    eds: bool | Unset = False,
) -> Imported | Problem | None:
    """Make documents of an Envoy's own configuration

     Takes a bootstrap with `static_resources`, the answer of Envoy's admin page at `/config_dump`, or
    `resources` as an Envoy reads them from a file (a DiscoveryResponse), of 4 MiB
    at most, and writes nothing: `resources` is for a `plan` or an `apply`. A reason begins with the
    line and the place, as a JSON pointer into what was sent, where these are known. What `fairlead
    import` prints with `--json`; docs/import.md. A private key that stands in what was sent stands in
    the secret that is made of it.

    Args:
        tenant (str):
        fleet (str):
        rds (bool | Unset):  Default: False.
        eds (bool | Unset):  Default: False.
        body (EnvoyConfig): An Envoy's bootstrap, what its admin page answers at `/config_dump`,
            or a DiscoveryResponse.

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Imported | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            client=client,
            body=body,
            rds=rds,
            eds=eds,
        )
    ).parsed
