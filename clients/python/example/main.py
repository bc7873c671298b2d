"""Writes a cluster to a fleet, which it makes if there is none of that name, waits until the proxies have answered,
and prints who took it:

    FAIRLEAD_URL=http://127.0.0.1:8080 FAIRLEAD_TOKEN=fla_... FAIRLEAD_TENANT=acme python3 example/main.py FLEET CLUSTER TIMEOUT [REVISION]

REVISION is the one that the fleet must be at; left out, it is the one that the fleet is at now.
"""

import os
import sys
from http import HTTPStatus
from typing import TypeVar

import httpx

from fairlead_client import AuthenticatedClient
from fairlead_client.api.fleets import create_fleet, get_fleet
from fairlead_client.api.resources import apply
from fairlead_client.api.revisions import get_receipt
from fairlead_client.models import (
    ApplyInput,
    FieldError,
    FleetCreate,
    GetReceiptState,
    Problem,
    ReceiptState,
    ResourceInput,
)
from fairlead_client.types import UNSET, Response, Unset

T = TypeVar("T")


class Refused(Exception):
    """An error that the API answered."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        said = problem.detail or problem.title
        lines = [f"{problem.status} {problem.code}: {said} (request {problem.request_id})"]
        lines += [f"  {place(e)}: {e.detail}" for e in problem.errors or []]
        super().__init__("\n".join(lines))


def place(error: FieldError) -> str:
    """Where a fault is: a pointer into the body, or a parameter."""
    return error.parameter or error.pointer or "the body"


def check(answer: Response[T | Problem]) -> T:
    """Returns what the API answered, or raises the problem that it answered instead."""
    if isinstance(answer.parsed, Problem):
        raise Refused(answer.parsed)
    assert answer.parsed is not None
    return answer.parsed


class Fleet:
    """One fleet of a tenant."""

    def __init__(self, client: AuthenticatedClient, tenant: str, name: str) -> None:
        self.client, self.tenant, self.name = client, tenant, name

    def open(self) -> int:
        """Returns the revision that the fleet is at. A fleet that is not there is made."""
        found = get_fleet.sync_detailed(self.tenant, self.name, client=self.client)
        if found.status_code != HTTPStatus.NOT_FOUND:
            revision = check(found).revision
            print(f"fleet {self.name} is at revision {revision}")
            return revision
        made = check(create_fleet.sync_detailed(self.tenant, client=self.client, body=FleetCreate(name=self.name)))
        print(f"fleet {self.name} is new")
        return made.revision

    def apply(self, cluster: str, timeout: str, expected: int) -> int:
        """Writes a cluster if the fleet is still at the expected revision, and returns the new one."""
        body = {"name": cluster, "type": "STATIC", "connect_timeout": timeout}
        document = ApplyInput(
            message="written by the example",
            expected_revision=expected,
            resources=[ResourceInput(type_="clusters", name=cluster, body=body)],
        )
        written = check(apply.sync_detailed(self.tenant, self.name, client=self.client, body=document))
        print(f"revision {written.revision}: {written.changed} changed")
        return written.revision

    def receipt(self, revision: int) -> bool:
        """Waits until no node is asked for an answer any more, and prints who has the revision."""
        got = check(get_receipt.sync_detailed(self.tenant, self.name, str(revision), client=self.client, wait="30s"))
        for node in got.nodes:
            if node.detail:
                print(f"{node.id} {node.state}: {node.detail}")
        names = self.acked(revision)
        print(f"revision {revision} is {got.state}; ACKed by {len(names)}: {' '.join(names)}")
        return got.state in (ReceiptState.DELIVERED, ReceiptState.STORED)

    def acked(self, revision: int) -> list[str]:
        """Lists the nodes that have ACKed the revision, page by page."""
        names: list[str] = []
        cursor: str | Unset = UNSET
        while True:
            page = check(
                get_receipt.sync_detailed(
                    self.tenant,
                    self.name,
                    str(revision),
                    client=self.client,
                    state=GetReceiptState.ACKED,
                    cursor=cursor,
                )
            )
            names += [node.id for node in page.nodes]
            cursor = page.next_cursor
            if isinstance(cursor, Unset):
                return names


def main() -> int:
    if len(sys.argv) not in (4, 5):
        print("usage: main.py FLEET CLUSTER TIMEOUT [REVISION]", file=sys.stderr)
        return 2
    name, cluster, timeout = sys.argv[1:4]
    # Above the 30 s for which the API is asked to wait.
    client = AuthenticatedClient(
        base_url=os.environ["FAIRLEAD_URL"], token=os.environ["FAIRLEAD_TOKEN"], timeout=httpx.Timeout(75)
    )
    fleet = Fleet(client, os.environ["FAIRLEAD_TENANT"], name)
    try:
        expected = fleet.open()
        if len(sys.argv) == 5:
            expected = int(sys.argv[4])
        revision = fleet.apply(cluster, timeout, expected)
        if not fleet.receipt(revision):
            print(f"revision {revision} is not everywhere", file=sys.stderr)
            return 1
    except (Refused, httpx.HTTPError, ValueError) as error:  # the last where something else than the API answered
        print(error, file=sys.stderr)
        return 1
    return 0


sys.exit(main())
