from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.load_list import LoadList
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    *,
    cluster: str | Unset = UNSET,
    clusters: list[str] | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cluster"] = cluster

    json_clusters: list[str] | Unset = UNSET
    if not isinstance(clusters, Unset):
        json_clusters = clusters

    params["clusters"] = json_clusters

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/load".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> LoadList | Problem:
    if response.status_code == 200:
        response_200 = LoadList.from_dict(response.json())

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
) -> Response[LoadList | Problem]:
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
    cluster: str | Unset = UNSET,
    clusters: list[str] | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[LoadList | Problem]:
    """List what proxies report of their load

     The requests of the last hour, as proxies count them that report their load: one item for each
    cluster, or, with `cluster`, one for each minute of that cluster, with its localities, endpoints,
    drops and
    metrics. All proxies and servers of the fleet are added up. A minute is complete some ten seconds
    after its end, and a cluster of which nothing was reported has no item.

    An Envoy reports its load where its bootstrap says so (`fairlead bootstrap --load-reports`), a gRPC
    client where the cluster has `lrs_server: {self: {}}`.

    Args:
        tenant (str):
        fleet (str):
        cluster (str | Unset):
        clusters (list[str] | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[LoadList | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        cluster=cluster,
        clusters=clusters,
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
    *,
    client: AuthenticatedClient | Client,
    cluster: str | Unset = UNSET,
    clusters: list[str] | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> LoadList | Problem | None:
    """List what proxies report of their load

     The requests of the last hour, as proxies count them that report their load: one item for each
    cluster, or, with `cluster`, one for each minute of that cluster, with its localities, endpoints,
    drops and
    metrics. All proxies and servers of the fleet are added up. A minute is complete some ten seconds
    after its end, and a cluster of which nothing was reported has no item.

    An Envoy reports its load where its bootstrap says so (`fairlead bootstrap --load-reports`), a gRPC
    client where the cluster has `lrs_server: {self: {}}`.

    Args:
        tenant (str):
        fleet (str):
        cluster (str | Unset):
        clusters (list[str] | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        LoadList | Problem
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        client=client,
        cluster=cluster,
        clusters=clusters,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    cluster: str | Unset = UNSET,
    clusters: list[str] | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[LoadList | Problem]:
    """List what proxies report of their load

     The requests of the last hour, as proxies count them that report their load: one item for each
    cluster, or, with `cluster`, one for each minute of that cluster, with its localities, endpoints,
    drops and
    metrics. All proxies and servers of the fleet are added up. A minute is complete some ten seconds
    after its end, and a cluster of which nothing was reported has no item.

    An Envoy reports its load where its bootstrap says so (`fairlead bootstrap --load-reports`), a gRPC
    client where the cluster has `lrs_server: {self: {}}`.

    Args:
        tenant (str):
        fleet (str):
        cluster (str | Unset):
        clusters (list[str] | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[LoadList | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        cluster=cluster,
        clusters=clusters,
        limit=limit,
        cursor=cursor,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    cluster: str | Unset = UNSET,
    clusters: list[str] | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> LoadList | Problem | None:
    """List what proxies report of their load

     The requests of the last hour, as proxies count them that report their load: one item for each
    cluster, or, with `cluster`, one for each minute of that cluster, with its localities, endpoints,
    drops and
    metrics. All proxies and servers of the fleet are added up. A minute is complete some ten seconds
    after its end, and a cluster of which nothing was reported has no item.

    An Envoy reports its load where its bootstrap says so (`fairlead bootstrap --load-reports`), a gRPC
    client where the cluster has `lrs_server: {self: {}}`.

    Args:
        tenant (str):
        fleet (str):
        cluster (str | Unset):
        clusters (list[str] | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        LoadList | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            client=client,
            cluster=cluster,
            clusters=clusters,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
