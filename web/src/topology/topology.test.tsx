import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import type { Fleet, NodeConfig, Receipt, Topology } from "../api/client";
import { router } from "../app/router";
import { open } from "../test/render";
import { get, on, problem, server } from "../test/server";
import "./graph-view"; // it comes lazily, and takes longer than a test waits

const base = "/v1/tenants/acme/fleets/edge";
const at = "2026-01-01T00:00:00Z";

const fleet: Fleet = {
  id: "f", name: "edge", description: "", references: "warn", node_ids: "shared", receipt_window: "1d", forget_nodes_after: "7d",
  etag: '"s-1"',
  static_clusters: [], private_clusters: [], local_ports: [], values: {}, revision: 3, changed_at: at, resources: 4, created_at: at,
};
const shop: Topology = {
  revision: 3, more_edges: 0, more_resources: 0,
  resources: [
    { type: "listeners", name: "shop", state: "stored", variants: 1 },
    { type: "routes", name: "shop", state: "stored", variants: 2 },
    { type: "clusters", name: "backend", state: "stored", variants: 1 },
    { type: "clusters", name: "misspelt", state: "missing", variants: 0 },
    { type: "clusters", name: "idle", state: "stored", variants: 1 },
  ],
  edges: [{ from: 0, to: 1, mentions: 1 }, { from: 1, to: 2, mentions: 1 }, { from: 1, to: 3, mentions: 1 }],
};
const receipt: Receipt = {
  revision: 3, state: "rejected", committed_at: at,
  counts: { acked: 0, nacked: 1, pending: 0, offline: 0, left: 0, withheld: 0, unaffected: 0, late: 0 },
  nodes: [{ id: "n1", state: "nacked", still_refusing: [{ type: "clusters", name: "backend" }] }],
};

beforeEach(() => {
  server.use(get(base, fleet), get(`${base}/topology`, shop), get(`${base}/revisions/latest/receipt`, receipt), get(`${base}/nodes`, { items: [], labels_unknown: 0 }));
});

const rows = async () => {
  const table = await screen.findByRole<HTMLTableElement>("table", { name: "What leads to what" });
  return [...(table.tBodies[0]?.rows ?? [])];
};

test("the list has what is broken first, with words, and leads to the resource", async () => {
  open("/fleets/edge/topology?view=list");
  expect(await screen.findByText(/^5 resources · 1 named and not there/)).toBeTruthy();
  await waitFor(async () => expect((await rows())[0]?.textContent).toContain("refused by 1 node"));
  const [first, second] = await rows();
  expect(within(first ?? document.body).getByRole("link", { name: "backend" }).getAttribute("href")).toBe("/fleets/edge/resources/clusters/backend");
  expect(second?.textContent).toContain("named and not there");
  expect(within(second ?? document.body).getByRole("link", { name: "Create the cluster misspelt" }).getAttribute("href")).toBe("/fleets/edge/new?type=clusters&name=misspelt");
});

test("a search and a focus stand in the address", async () => {
  open("/fleets/edge/topology?view=list");
  await userEvent.type(await screen.findByLabelText("Search"), "idle");
  await waitFor(async () => expect(await rows()).toHaveLength(1));
  expect(router.state.location.search).toEqual({ view: "list", q: "idle" });
  await userEvent.click(screen.getByRole("button", { name: "Show all" }));
  await waitFor(async () => expect(await rows()).toHaveLength(5));
  expect((await screen.findByLabelText<HTMLInputElement>("Search")).value).toBe("");
  const [around] = screen.getAllByRole("button", { name: "Show only what is around cluster backend" });
  if (around) await userEvent.click(around);
  await waitFor(async () => expect(await rows()).toHaveLength(3));
  expect(router.state.location.search).toEqual({ view: "list", focus: "clusters/backend" });
});

test("the graph has the same as links, and names what is not there", async () => {
  open("/fleets/edge/topology");
  expect(await screen.findByText("not there")).toBeTruthy();
  expect(screen.getByRole("link", { name: "backend" }).getAttribute("href")).toBe("/fleets/edge/resources/clusters/backend");
  await userEvent.click(screen.getByRole("button", { name: "Show only what is around cluster idle" }));
  await waitFor(() => expect(screen.queryByRole("link", { name: "backend" })).toBeNull());
});

test("a node's graph is what it asks for, with its own states", async () => {
  const config: NodeConfig = {
    node: "n1", state: "refusing", settled: 2, revision: 3,
    items: [
      { type: "listeners", name: "shop", state: "synced" },
      { type: "routes", name: "shop", state: "refused" },
      { type: "clusters", name: "backend", state: "not_subscribed" },
    ],
  };
  server.use(
    get(`${base}/nodes/n1/config`, config),
    get(`${base}/nodes/n1`, { id: "n1", state: "refusing", settled: 2, refusals: [], first_seen: at, last_seen: at, connections: 1, streams: 1, subscribes: [] }),
  );
  open("/fleets/edge/topology?view=list&node=n1");
  await waitFor(async () => expect((await rows())[0]?.textContent).toContain("refused, another version stands in"));
  expect(await rows()).toHaveLength(3);
});

test("of a large fleet, what is around one is asked for", async () => {
  const asked: string[] = [];
  server.use(get(`${base}/topology`, (request) => {
    asked.push(new URL(request.url).search);
    return { ...shop, more_resources: 4000 };
  }));
  open("/fleets/edge/topology?view=list&focus=clusters/backend");
  expect(await screen.findByText("4000 more are left off")).toBeTruthy();
  await waitFor(() => expect(asked).toContain("?most=1000&type=clusters&name=backend"));
});

test("an empty fleet is told what to do, and a failure in words", async () => {
  server.use(get(`${base}/topology`, { ...shop, resources: [], edges: [] }));
  const { unmount } = open("/fleets/edge/topology");
  expect(await screen.findByRole("link", { name: "Create a resource" })).toBeTruthy();
  unmount();
  server.use(on("get", `${base}/topology`, () => problem(400, "bad_request", "no such thing")));
  open("/fleets/edge/topology");
  expect(await screen.findByText("no such thing")).toBeTruthy();
});
