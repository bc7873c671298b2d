from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ...client import AuthenticatedClient, Client
from ...models.finding_code import FindingCode
from ...models.finding_list import FindingList
from ...models.finding_severity import FindingSeverity
from ...models.problem import Problem
from ...models.resource_type import ResourceType
from ...types import UNSET, Response, Unset


def _get_kwargs(
    tenant: str,
    fleet: str,
    *,
    severity: FindingSeverity | Unset = UNSET,
    code: FindingCode | Unset = UNSET,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_severity: str | Unset = UNSET
    if not isinstance(severity, Unset):
        json_severity = severity.value

    params["severity"] = json_severity

    json_code: str | Unset = UNSET
    if not isinstance(code, Unset):
        json_code = code.value

    params["code"] = json_code

    json_type_: str | Unset = UNSET
    if not isinstance(type_, Unset):
        json_type_ = type_.value

    params["type"] = json_type_

    params["name"] = name

    params["limit"] = limit

    params["cursor"] = cursor

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/v1/tenants/{tenant}/fleets/{fleet}/findings".format(
            tenant=quote(str(tenant), safe=""),
            fleet=quote(str(fleet), safe=""),
        ),
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> FindingList | Problem:
    if response.status_code == 200:
        response_200 = FindingList.from_dict(response.json())

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
) -> Response[FindingList | Problem]:
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
    severity: FindingSeverity | Unset = UNSET,
    code: FindingCode | Unset = UNSET,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[FindingList | Problem]:
    """Tell what is wrong in a fleet as a whole

     What no single resource shows: references that lead nowhere, certificates that expire, domains that
    stand twice, resources that nothing leads to, variants that no
    node gets. It is computed again for every page; `revision` tells of which content.

    Args:
        tenant (str):
        fleet (str):
        severity (FindingSeverity | Unset): `error`: traffic fails, or nodes do not get what was
            written. `warning`: it will be an error soon, or is probably a mistake. `info`: nothing is
            harmed.
        code (FindingCode | Unset): What kind of finding it is; docs/findings.md describes each.
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[FindingList | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        severity=severity,
        code=code,
        type_=type_,
        name=name,
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
    severity: FindingSeverity | Unset = UNSET,
    code: FindingCode | Unset = UNSET,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> FindingList | Problem | None:
    """Tell what is wrong in a fleet as a whole

     What no single resource shows: references that lead nowhere, certificates that expire, domains that
    stand twice, resources that nothing leads to, variants that no
    node gets. It is computed again for every page; `revision` tells of which content.

    Args:
        tenant (str):
        fleet (str):
        severity (FindingSeverity | Unset): `error`: traffic fails, or nodes do not get what was
            written. `warning`: it will be an error soon, or is probably a mistake. `info`: nothing is
            harmed.
        code (FindingCode | Unset): What kind of finding it is; docs/findings.md describes each.
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        FindingList | Problem
    """

    return sync_detailed(
        tenant=tenant,
        fleet=fleet,
        client=client,
        severity=severity,
        code=code,
        type_=type_,
        name=name,
        limit=limit,
        cursor=cursor,
    ).parsed


async def asyncio_detailed(
    tenant: str,
    fleet: str,
    *,
    client: AuthenticatedClient | Client,
    severity: FindingSeverity | Unset = UNSET,
    code: FindingCode | Unset = UNSET,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> Response[FindingList | Problem]:
    """Tell what is wrong in a fleet as a whole

     What no single resource shows: references that lead nowhere, certificates that expire, domains that
    stand twice, resources that nothing leads to, variants that no
    node gets. It is computed again for every page; `revision` tells of which content.

    Args:
        tenant (str):
        fleet (str):
        severity (FindingSeverity | Unset): `error`: traffic fails, or nodes do not get what was
            written. `warning`: it will be an error soon, or is probably a mistake. `info`: nothing is
            harmed.
        code (FindingCode | Unset): What kind of finding it is; docs/findings.md describes each.
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[FindingList | Problem]
    """

    kwargs = _get_kwargs(
        tenant=tenant,
        fleet=fleet,
        severity=severity,
        code=code,
        type_=type_,
        name=name,
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
    severity: FindingSeverity | Unset = UNSET,
    code: FindingCode | Unset = UNSET,
    type_: ResourceType | Unset = UNSET,
    name: str | Unset = UNSET,
    limit: int | Unset = 100,
    cursor: str | Unset = UNSET,
) -> FindingList | Problem | None:
    """Tell what is wrong in a fleet as a whole

     What no single resource shows: references that lead nowhere, certificates that expire, domains that
    stand twice, resources that nothing leads to, variants that no
    node gets. It is computed again for every page; `revision` tells of which content.

    Args:
        tenant (str):
        fleet (str):
        severity (FindingSeverity | Unset): `error`: traffic fails, or nodes do not get what was
            written. `warning`: it will be an error soon, or is probably a mistake. `info`: nothing is
            harmed.
        code (FindingCode | Unset): What kind of finding it is; docs/findings.md describes each.
        type_ (ResourceType | Unset): The resource's type, by the name of its list. Example:
            clusters.
        name (str | Unset):
        limit (int | Unset):  Default: 100.
        cursor (str | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        FindingList | Problem
    """

    return (
        await asyncio_detailed(
            tenant=tenant,
            fleet=fleet,
            client=client,
            severity=severity,
            code=code,
            type_=type_,
            name=name,
            limit=limit,
            cursor=cursor,
        )
    ).parsed
