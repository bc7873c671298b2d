import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import type { Fleet, Node, NodeList } from "../api/client";
import { open } from "../test/render";
import { get, on, problem, server } from "../test/server";

const path = "/v1/tenants/acme/fleets/edge";

const fleet: Fleet = {
  id: "f", name: "edge", description: "", references: "warn", node_ids: "shared", receipt_window: "1d", forget_nodes_after: "7d",
  etag: '"s-1"', static_clusters: [], private_clusters: [], local_ports: [], values: {}, revision: 9,
  changed_at: "2026-01-01T00:00:00Z", created_at: "2026-01-01T00:00:00Z", resources: 2,
  counts: { nodes: { live: 2, refusing: 1, offline: 0 }, resources: [{ type: "clusters", count: 2 }], open_refusals: 1 },
};

const node = (id: string, more: Partial<Node> = {}): Node => ({
  id, state: "live", settled: 9, first_seen: "2026-01-01T00:00:00Z", last_seen: "2026-01-01T00:00:00Z", since: "2026-01-01T00:00:00Z", refusals: [], user_agent: "envoy", version: "1.40.0", ...more,
});

const refuses = (id: string, detail: string) => node(id, { state: "refusing", refusals: [{ type: "clusters", name: "web", version: "v", revision: 9, detail, at: "2026-01-01T00:00:00Z" }] });

/** Plays the list; what was asked for is kept. */
function playList(answer: (query: URLSearchParams) => NodeList) {
  const asked: string[] = [];
  server.use(
    get(path, fleet),
    get<NodeList>(`${path}/nodes`, (request) => {
      const query = new URL(request.url).searchParams;
      asked.push(query.toString());
      return answer(query);
    }),
  );
  return asked;
}

test("nodes with their state, where they are, what they wait for", async () => {
  playList(() => ({ items: [node("a/b", { settled: 7, waits: { warming: [], withheld: [], withheld_by: [{ type: "routes", name: "r" }] } }), node("c")] }));
  open("/fleets/edge/nodes");
  const row = within(await screen.findByRole("row", { name: /a\/b/ }));
  expect(row.getByText("at 7, 2 behind")).toBeTruthy();
  expect(row.getByText("routes/r")).toBeTruthy();
  expect(row.getByText("envoy 1.40.0")).toBeTruthy();
  expect(row.getByRole("link", { name: "a/b" }).getAttribute("href")).toBe("/fleets/edge/nodes/a%2Fb");
  expect(await screen.findByText(/3 nodes: 2 live, 1 refusing, 0 offline. Sorted by id/)).toBeTruthy();
});

test("words that several nodes refuse with stand once above the table, others at their node", async () => {
  playList(() => ({ items: [refuses("a", "same <b>words</b>"), refuses("b", "same <b>words</b>"), refuses("c", "own words")] }));
  open("/fleets/edge/nodes");
  expect(await screen.findByText("2 nodes of this page refuse in the same words")).toBeTruthy();
  expect(screen.getAllByText("same <b>words</b>")).toHaveLength(1);
  expect(within(screen.getByRole("row", { name: /^a/ })).getByText("refuses clusters/web, in the words above")).toBeTruthy();
  expect(within(screen.getByRole("row", { name: /^c/ })).getByText("clusters/web: own words")).toBeTruthy();
});

test("filters are the server's, and stand in the address", async () => {
  const asked = playList((q) => ({ items: [node("edge-1")], ...(q.has("count") ? { matches: 12, matches_cut: true } : {}) }));
  open("/fleets/edge/nodes?state=offline&selector=locality.region%3Deu");
  expect(await screen.findByText(/at least 12 nodes match of 3/)).toBeTruthy();
  expect(asked).toContain("state=offline&selector=locality.region%3Deu&limit=200");
  expect(asked).toContain("state=offline&selector=locality.region%3Deu&count=true&limit=1");
  await userEvent.type(screen.getByLabelText("Id begins with"), "edge-");
  await waitFor(() => expect(asked).toContain("state=offline&prefix=edge-&selector=locality.region%3Deu&limit=200"));
  expect(screen.getByLabelText<HTMLInputElement>("Id begins with").value).toBe("edge-");
  const selector = screen.getByLabelText("Selector");
  await userEvent.clear(selector);
  await userEvent.type(selector, "metadata.canary{Enter}");
  await waitFor(() => expect(asked).toContain("state=offline&prefix=edge-&selector=metadata.canary&limit=200"));
});

test("pages by the server's cursor, and back", async () => {
  const asked = playList((q) => (q.get("cursor") === "two" ? { items: [node("last")] } : { items: [node("first")], next_cursor: "two" }));
  open("/fleets/edge/nodes");
  await screen.findByRole("link", { name: "first" });
  await userEvent.click(screen.getByRole("button", { name: "Next page" }));
  await screen.findByRole("link", { name: "last" });
  expect(asked).toContain("limit=200&cursor=two");
  expect(screen.getByText("page 2")).toBeTruthy();
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Next page" }).disabled).toBe(true);
  await userEvent.click(screen.getByRole("button", { name: "Previous page" }));
  await screen.findByRole("link", { name: "first" });
});

test("a fleet without nodes says how one comes", async () => {
  playList(() => ({ items: [] }));
  open("/fleets/edge/nodes");
  expect(await screen.findByText("No node has come yet")).toBeTruthy();
  expect(screen.getAllByRole("link", { name: "Connect a node" }).every((l) => l.getAttribute("href") === "/fleets/edge/connect")).toBe(true);
});

test("filters that nothing passes can be taken away", async () => {
  const asked = playList((q) => (q.has("prefix") ? { items: [], matches: 0 } : { items: [node("a")] }));
  open("/fleets/edge/nodes?prefix=zzz");
  await screen.findByText("No node matches");
  await userEvent.click(screen.getByRole("button", { name: "Show all nodes" }));
  await screen.findByRole("link", { name: "a" });
  expect(asked).toContain("limit=200");
  expect(screen.getByLabelText<HTMLInputElement>("Id begins with").value).toBe("");
});

test("a selector that is wrong is told in the API's words", async () => {
  server.use(get(path, fleet), on("get", `${path}/nodes`, () => problem(400, "invalid_selector", "byte 3: no such key")));
  open("/fleets/edge/nodes?selector=no%3D1");
  expect((await screen.findAllByText("byte 3: no such key")).length).toBeGreaterThan(0);
  await waitFor(() => expect(screen.getByLabelText<HTMLInputElement>("Selector").value).toBe("no=1"));
});

test("without an answer the page says so", async () => {
  server.use(get(path, fleet), on("get", `${path}/nodes`, () => problem(403, "forbidden", "not for you")));
  open("/fleets/edge/nodes");
  expect(await screen.findByText("Not allowed")).toBeTruthy();
});
