from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.bootstrap import Bootstrap
from ...models.get_bootstrap_client import GetBootstrapClient
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    *,
    client_query: GetBootstrapClient | Unset = GetBootstrapClient.ENVOY,
    node_id: str,
    xds: list[str],
    failover: list[str] | Unset = UNSET,
    node_cluster: str | Unset = UNSET,
    region: str | Unset = UNSET,
    zone: str | Unset = UNSET,
    sub_zone: str | Unset = UNSET,
    label: list[str] | Unset = UNSET,
    metadata: list[str] | Unset = UNSET,
    token_file: str | Unset = UNSET,
    token_env: str | Unset = UNSET,
    ca_file: str | Unset = UNSET,
    server_name: str | Unset = UNSET,
    plaintext: bool | Unset = False,
    sotw: bool | Unset = False,
    relay_listen: str | Unset = UNSET,
    admin: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_client_query: str | Unset = UNSET
    if not isinstance(client_query, Unset):
        json_client_query = client_query.value

    params["client"] = json_client_query

    params["node_id"] = node_id

    json_xds = xds

    params["xds"] = json_xds

    json_failover: list[str] | Unset = UNSET
    if not isinstance(failover, Unset):
        json_failover = failover

    params["failover"] = json_failover

    params["node_cluster"] = node_cluster

    params["region"] = region

    params["zone"] = zone

    params["sub_zone"] = sub_zone

    json_label: list[str] | Unset = UNSET
    if not isinstance(label, Unset):
        json_label = label

    params["label"] = json_label

    json_metadata: list[str] | Unset = UNSET
    if not isinstance(metadata, Unset):
        json_metadata = metadata

    params["metadata"] = json_metadata

    params["token_file"] = token_file

    params["token_env"] = token_env

    params["ca_file"] = ca_file

    params["server_name"] = server_name

    params["plaintext"] = plaintext

    params["sotw"] = sotw

    params["relay_listen"] = relay_listen

    params["admin"] = admin

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/bootstrap".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Bootstrap | Problem:
    if response.status_code == 200:
        response_200 = Bootstrap.from_dict(response.json())

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
) -> Response[Bootstrap | Problem]:
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
    client_query: GetBootstrapClient | Unset = GetBootstrapClient.ENVOY,
    node_id: str,
    xds: list[str],
    failover: list[str] | Unset = UNSET,
    node_cluster: str | Unset = UNSET,
    region: str | Unset = UNSET,
    zone: str | Unset = UNSET,
    sub_zone: str | Unset = UNSET,
    label: list[str] | Unset = UNSET,
    metadata: list[str] | Unset = UNSET,
    token_file: str | Unset = UNSET,
    token_env: str | Unset = UNSET,
    ca_file: str | Unset = UNSET,
    server_name: str | Unset = UNSET,
    plaintext: bool | Unset = False,
    sotw: bool | Unset = False,
    relay_listen: str | Unset = UNSET,
    admin: str | Unset = UNSET,
) -> Response[Bootstrap | Problem]:
    """Write the file that a client starts with

     What `fairlead bootstrap` prints: how an Envoy, a relay or a gRPC client reaches the xDS servers,
    and as whom. The node token never stands in it: `notes` says where it goes. The
    node's id has to be one that a credential of the fleet admits. Paths are of the client's machine. An
    Envoy adds the token to its own discovery alone: what is routed to the
    cluster `fairlead_xds` has none. Its metadata tell `fairlead: {bootstrap: 2}`, which generation of
    these files it runs.
    A request line and its headers take 32 KiB at most, as they are sent: a query that is longer,
    percent-encoded, is not read, and HTTP's own 431 is the answer, as plain text.

    Args:
        tenant (str):
        fleet (str):
        client_query (GetBootstrapClient | Unset):  Default: GetBootstrapClient.ENVOY.
        node_id (str):
        xds (list[str]):
        failover (list[str] | Unset):
        node_cluster (str | Unset):
        region (str | Unset):
        zone (str | Unset):
        sub_zone (str | Unset):
        label (list[str] | Unset):
        metadata (list[str] | Unset):
        token_file (str | Unset):
        token_env (str | Unset):
        ca_file (str | Unset):
        server_name (str | Unset):
        plaintext (bool | Unset):  Default: False.
        sotw (bool | Unset):  Default: False.
        relay_listen (str | Unset):
        admin (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Bootstrap | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        client_query=client_query,
        node_id=node_id,
        xds=xds,
        failover=failover,
        node_cluster=node_cluster,
        region=region,
        zone=zone,
        sub_zone=sub_zone,
        label=label,
        metadata=metadata,
        token_file=token_file,
        token_env=token_env,
        ca_file=ca_file,
        server_name=server_name,
        plaintext=plaintext,
        sotw=sotw,
        relay_listen=relay_listen,
        admin=admin,
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
    client_query: GetBootstrapClient | Unset = GetBootstrapClient.ENVOY,
    node_id: str,
    xds: list[str],
    failover: list[str] | Unset = UNSET,
    node_cluster: str | Unset = UNSET,
    region: str | Unset = UNSET,
    zone: str | Unset = UNSET,
    sub_zone: str | Unset = UNSET,
    label: list[str] | Unset = UNSET,
    metadata: list[str] | Unset = UNSET,
    token_file: str | Unset = UNSET,
    token_env: str | Unset = UNSET,
    ca_file: str | Unset = UNSET,
    server_name: str | Unset = UNSET,
    plaintext: bool | Unset = False,
    sotw: bool | Unset = False,
    relay_listen: str | Unset = UNSET,
    admin: str | Unset = UNSET,
) -> Bootstrap | Problem | None:
    """Write the file that a client starts with

     What `fairlead bootstrap` prints: how an Envoy, a relay or a gRPC client reaches the xDS servers,
    and as whom. The node token never stands in it: `notes` says where it goes. The
    node's id has to be one that a credential of the fleet admits. Paths are of the client's machine. An
    Envoy adds the token to its own discovery alone: what is routed to the
    cluster `fairlead_xds` has none. Its metadata tell `fairlead: {bootstrap: 2}`, which generation of
    these files it runs.
    A request line and its headers take 32 KiB at most, as they are sent: a query that is longer,
    percent-encoded, is not read, and HTTP's own 431 is the answer, as plain text.

    Args:
        tenant (str):
        fleet (str):
        client_query (GetBootstrapClient | Unset):  Default: GetBootstrapClient.ENVOY.
        node_id (str):
        xds (list[str]):
        failover (list[str] | Unset):
        node_cluster (str | Unset):
        region (str | Unset):
        zone (str | Unset):
        sub_zone (str | Unset):
        label (list[str] | Unset):
        metadata (list[str] | Unset):
        token_file (str | Unset):
        token_env (str | Unset):
        ca_file (str | Unset):
        server_name (str | Unset):
        plaintext (bool | Unset):  Default: False.
        sotw (bool | Unset):  Default: False.
        relay_listen (str | Unset):
        admin (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Bootstrap | Problem
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        client=client,
        client_query=client_query,
        node_id=node_id,
        xds=xds,
        failover=failover,
        node_cluster=node_cluster,
        region=region,
        zone=zone,
        sub_zone=sub_zone,
        label=label,
        metadata=metadata,
        token_file=token_file,
        token_env=token_env,
        ca_file=ca_file,
        server_name=server_name,
        plaintext=plaintext,
        sotw=sotw,
        relay_listen=relay_listen,
        admin=admin,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    client_query: GetBootstrapClient | Unset = GetBootstrapClient.ENVOY,
    node_id: str,
    xds: list[str],
    failover: list[str] | Unset = UNSET,
    node_cluster: str | Unset = UNSET,
    region: str | Unset = UNSET,
    zone: str | Unset = UNSET,
    sub_zone: str | Unset = UNSET,
    label: list[str] | Unset = UNSET,
    metadata: list[str] | Unset = UNSET,
    token_file: str | Unset = UNSET,
    token_env: str | Unset = UNSET,
    ca_file: str | Unset = UNSET,
    server_name: str | Unset = UNSET,
    plaintext: bool | Unset = False,
    sotw: bool | Unset = False,
    relay_listen: str | Unset = UNSET,
    admin: str | Unset = UNSET,
) -> Response[Bootstrap | Problem]:
    """Write the file that a client starts with

     What `fairlead bootstrap` prints: how an Envoy, a relay or a gRPC client reaches the xDS servers,
    and as whom. The node token never stands in it: `notes` says where it goes. The
    node's id has to be one that a credential of the fleet admits. Paths are of the client's machine. An
    Envoy adds the token to its own discovery alone: what is routed to the
    cluster `fairlead_xds` has none. Its metadata tell `fairlead: {bootstrap: 2}`, which generation of
    these files it runs.
    A request line and its headers take 32 KiB at most, as they are sent: a query that is longer,
    percent-encoded, is not read, and HTTP's own 431 is the answer, as plain text.

    Args:
        tenant (str):
        fleet (str):
        client_query (GetBootstrapClient | Unset):  Default: GetBootstrapClient.ENVOY.
        node_id (str):
        xds (list[str]):
        failover (list[str] | Unset):
        node_cluster (str | Unset):
        region (str | Unset):
        zone (str | Unset):
        sub_zone (str | Unset):
        label (list[str] | Unset):
        metadata (list[str] | Unset):
        token_file (str | Unset):
        token_env (str | Unset):
        ca_file (str | Unset):
        server_name (str | Unset):
        plaintext (bool | Unset):  Default: False.
        sotw (bool | Unset):  Default: False.
        relay_listen (str | Unset):
        admin (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Bootstrap | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        client_query=client_query,
        node_id=node_id,
        xds=xds,
        failover=failover,
        node_cluster=node_cluster,
        region=region,
        zone=zone,
        sub_zone=sub_zone,
        label=label,
        metadata=metadata,
        token_file=token_file,
        token_env=token_env,
        ca_file=ca_file,
        server_name=server_name,
        plaintext=plaintext,
        sotw=sotw,
        relay_listen=relay_listen,
        admin=admin,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    client_query: GetBootstrapClient | Unset = GetBootstrapClient.ENVOY,
    node_id: str,
    xds: list[str],
    failover: list[str] | Unset = UNSET,
    node_cluster: str | Unset = UNSET,
    region: str | Unset = UNSET,
    zone: str | Unset = UNSET,
    sub_zone: str | Unset = UNSET,
    label: list[str] | Unset = UNSET,
    metadata: list[str] | Unset = UNSET,
    token_file: str | Unset = UNSET,
    token_env: str | Unset = UNSET,
    ca_file: str | Unset = UNSET,
    server_name: str | Unset = UNSET,
    plaintext: bool | Unset = False,
    sotw: bool | Unset = False,
    relay_listen: str | Unset = UNSET,
    admin: str | Unset = UNSET,
) -> Bootstrap | Problem | None:
    """Write the file that a client starts with

     What `fairlead bootstrap` prints: how an Envoy, a relay or a gRPC client reaches the xDS servers,
    and as whom. The node token never stands in it: `notes` says where it goes. The
    node's id has to be one that a credential of the fleet admits. Paths are of the client's machine. An
    Envoy adds the token to its own discovery alone: what is routed to the
    cluster `fairlead_xds` has none. Its metadata tell `fairlead: {bootstrap: 2}`, which generation of
    these files it runs.
    A request line and its headers take 32 KiB at most, as they are sent: a query that is longer,
    percent-encoded, is not read, and HTTP's own 431 is the answer, as plain text.

    Args:
        tenant (str):
        fleet (str):
        client_query (GetBootstrapClient | Unset):  Default: GetBootstrapClient.ENVOY.
        node_id (str):
        xds (list[str]):
        failover (list[str] | Unset):
        node_cluster (str | Unset):
        region (str | Unset):
        zone (str | Unset):
        sub_zone (str | Unset):
        label (list[str] | Unset):
        metadata (list[str] | Unset):
        token_file (str | Unset):
        token_env (str | Unset):
        ca_file (str | Unset):
        server_name (str | Unset):
        plaintext (bool | Unset):  Default: False.
        sotw (bool | Unset):  Default: False.
        relay_listen (str | Unset):
        admin (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Bootstrap | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            client=client,
            client_query=client_query,
            node_id=node_id,
            xds=xds,
            failover=failover,
            node_cluster=node_cluster,
            region=region,
            zone=zone,
            sub_zone=sub_zone,
            label=label,
            metadata=metadata,
            token_file=token_file,
            token_env=token_env,
            ca_file=ca_file,
            server_name=server_name,
            plaintext=plaintext,
            sotw=sotw,
            relay_listen=relay_listen,
            admin=admin,
        )
    ).parsed
