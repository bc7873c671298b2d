import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse } from "msw";
import { expect, test } from "vitest";
import type { EventList, Node, NodeConfig, NodeReasons, NodeResource, Refusal, Resource, Retry } from "../api/client";
import { open } from "../test/render";
import { get, me, on, problem, server } from "../test/server";

const at = "2026-01-01T00:00:00Z";
const path = "/v1/tenants/acme/fleets/edge";
const words = "Error adding/updating cluster(s) other: no luck, web: cluster provided LB specified but cluster 'web' did not provide one";

const refusal: Refusal = {
  type: "clusters", name: "web", version: "bad", revision: 8, detail: words, action: "kept the last known good version", action_code: "kept", stands_in: "good", lifted_by: "another version of it, or retry", at,
};

const base: Node = {
  id: "eu/a", state: "refusing", settled: 9, first_seen: at, last_seen: at, since: at, user_agent: "envoy", version: "1.40.0", protocol: "delta ADS", server: "xds-1", remote_addr: "10.0.0.7:1", credential: "cred-1",
  labels: { region: "eu", metadata: { team: "<b>shop</b>" } },
  subscribes: [{ type: "clusters", wildcard: true }],
  refusals: [refusal, { ...refusal, name: "other" }, { ...refusal, name: "old", detail: "was bad", resolved_at: at, resolved_by: 7 }],
};

const held: NodeResource = { type: "clusters", name: "web", variant: "eu", state: "refused", version: "good", revision: 3, refused_version: "bad", refused_revision: 8, detail: words, action: "kept the last known good version" };
const why: NodeReasons = {
  node: "eu/a", state: "refusing", settled: 9, revision: 9, labels: {},
  items: [{
    resource: held, because: 'the variant "eu" matches: locality.region=eu',
    why: {
      selector: "locality.region=eu", requirements: [{ requirement: "locality.region=eu", has: "eu", holds: true }],
      passed_over: [{ variant: "us", selector: "locality.region=us", priority: 2, matches: false, requirements: [{ requirement: "locality.region=us", has: "eu", holds: false }] }],
    },
  }],
};
const config = (items: NodeResource[], next?: string): NodeConfig => ({ node: "eu/a", state: "refusing", settled: 9, revision: 9, items, ...(next === undefined ? {} : { next_cursor: next }) });
const refused: Resource = { type: "clusters", name: "web", variant: "eu", version: "bad", revision: 8, etag: "e", created_at: at, updated_at: at, body: { name: "web", type: "STATIC", lb_policy: "CLUSTER_PROVIDED" } };

/** Plays all that a node's page asks. What was asked of the configuration and of resources is kept. */
function play(node: Node, configOf: (query: URLSearchParams) => NodeConfig = () => config([held])) {
  const asked: string[] = [];
  const note = (request: Request) => asked.push(decodeURIComponent(request.url.slice(request.url.indexOf("/fleets/edge") + 12)));
  server.use(
    get(path, { revision: 9, counts: { nodes: { live: 0, refusing: 1, offline: 0 }, resources: [{ type: "clusters", count: 4 }, { type: "routes", count: 2 }], open_refusals: 1 } }),
    get<Node>(`${path}/nodes/:node`, node),
    get<NodeConfig>(`${path}/nodes/:node/config`, (r) => {
      note(r);
      return configOf(new URL(r.url).searchParams);
    }),
    get<NodeReasons>(`${path}/nodes/:node/why`, why),
    on("get", `${path}/resources/clusters/:name`, ({ request }) => {
      note(request);
      return request.url.includes("/web?") ? HttpResponse.json(refused) : problem(404, "not_found", "no");
    }),
    get<EventList>(`${path}/events`, { items: [{ kind: "refused", node: "eu/a", at, id: "1", resource: { type: "clusters", name: "web" }, version: "bad", revision: 8, detail: "the event's words" }], position: "p" }),
  );
  return asked;
}

const address = "/fleets/edge/nodes/eu%2Fa";

test("a refusal has its own part of the words at the line that they mean, what was done and what ends it", async () => {
  const asked = play(base);
  open(address);
  const card = within(await screen.findByRole("article", { name: "Refused clusters/web" }));
  const lines = within(await card.findByRole("list", { name: "Line 3 of clusters/web" }));
  const fault = lines.getAllByRole("listitem").find((l) => l.getAttribute("aria-current") === "location");
  expect(fault?.textContent).toBe("3lb_policy: CLUSTER_PROVIDED");
  expect(lines.getByText("cluster provided LB specified but cluster 'web' did not provide one")).toBeTruthy();
  expect(asked).toContain("/resources/clusters/web?revision=8&variant=eu");
  expect(card.getByText("kept the last known good version")).toBeTruthy();
  expect(card.getByText("another version of it, or retry")).toBeTruthy();
  expect(card.getByRole("link", { name: "clusters/web" }).getAttribute("href")).toBe("/fleets/edge/resources/clusters/web?variant=eu");
  expect(card.getByRole("link", { name: "revision 8" }).getAttribute("href")).toBe("/fleets/edge/history/8");
  await userEvent.click(card.getByRole("button", { name: "The whole answer" }));
  expect(card.getByText(words)).toBeTruthy();
});

test("what was refused and is not kept any more is told by its words alone", async () => {
  play(base);
  open(address);
  const card = within(await screen.findByRole("article", { name: "Refused clusters/other" }));
  expect(await card.findByText("no luck")).toBeTruthy();
  expect(await card.findByText(/is not kept any more/)).toBeTruthy();
});

test("refusals that have ended are folded", async () => {
  play(base);
  open(address);
  const fold = await screen.findByRole("button", { name: "1 refusal has ended" });
  expect(screen.queryByText("was bad")).toBeNull();
  await userEvent.click(fold);
  expect(screen.getByText("was bad")).toBeTruthy();
  expect(screen.getByRole("row", { name: /was bad.*revision 7/ })).toBeTruthy();
});

test("who is it, what does it say of itself, and what does it ask for", async () => {
  play(base);
  open(address);
  expect(await screen.findByRole("heading", { level: 1, name: "eu/a" })).toBeTruthy();
  await screen.findByText("xds-1");
  for (const fact of ["xds-1", "delta ADS", "10.0.0.7:1", "cred-1", "envoy 1.40.0", "metadata.team", "<b>shop</b>"]) expect(screen.getByText(fact)).toBeTruthy();
  const routes = within(await screen.findByRole("row", { name: /^routes/ }));
  expect(routes.getByText("what it has names, by name")).toBeTruthy();
  expect(within(screen.getByRole("row", { name: /^clusters all/ })).getByText("4")).toBeTruthy();
  expect(await screen.findByText("the event's words")).toBeTruthy();
});

test("what it refuses is offered again, by those who may", async () => {
  let posts = 0;
  play(base);
  server.use(
    on("post", `${path}/nodes/:node/retry`, ({ params }) => {
      posts++;
      expect(params.node).toBe("eu/a");
      const answer: Retry = { node: "eu/a", state: "live", retried: 1, resources: [{ type: "clusters", name: "web" }] };
      return HttpResponse.json(answer);
    }),
  );
  open(address);
  await userEvent.click(await screen.findByRole("button", { name: "Retry what it refuses" }));
  expect(await screen.findByText("1 resource is offered again: clusters/web")).toBeTruthy();
  expect(posts).toBe(1);
});

test("a viewer cannot, and is told so", async () => {
  play(base);
  server.use(get("/v1/whoami", { ...me, role: "viewer" }));
  open(address);
  expect((await screen.findByRole<HTMLButtonElement>("button", { name: "Retry what it refuses" })).disabled).toBe(true);
  expect(screen.getByText("A viewer cannot offer it again.")).toBeTruthy();
});

test("what it waits for, with what to do", async () => {
  const routes = { type: "routes" as const, name: "r" };
  play({ ...base, refusals: [], state: "live", waits: { warming: [{ type: "clusters", name: "slow" }], withheld: [{ resource: { type: "listeners", name: "l" }, by: routes, reason: "missing", revision: 9 }], withheld_by: [routes] } });
  open(address);
  const waits = await screen.findByRole("region", { name: "What it waits for" });
  expect(waits.textContent).toContain("listeners/l of revision 9 waits for routes/r, which does not exist: write it");
  expect(within(waits).getByRole("link", { name: "clusters/slow" })).toBeTruthy();
  expect(waits.textContent).toContain("is sent and not answered: something that it needs is still open, or the node is stuck");
  expect(screen.queryByRole("button", { name: /Retry/ })).toBeNull();
});

test("a node of files that no Envoy reads says so", async () => {
  play({ ...base, refusals: [], state: "live", user_agent: "fairlead-sync-no-envoy" });
  open(address);
  expect((await screen.findByRole("region", { name: "What it waits for" })).textContent).toContain("no Envoy serves there: its files are written, and nothing is confirmed until one does");
});

test("what it holds is filtered by the server, and looked through by name", async () => {
  const asked = play(base, (q) => {
    if (q.get("limit") !== "500") return config([held]);
    return q.get("cursor") === "more" ? config([{ type: "clusters", name: "x-needle", state: "synced" }]) : config([held], "more");
  });
  open(`${address}?type=clusters&holds=refused`);
  await screen.findByRole("row", { name: /clusters\/web/ });
  expect(asked).toContain("/nodes/eu/a/config?type=clusters&state=refused&limit=50");
  await userEvent.type(screen.getByLabelText("Name contains"), "Needle");
  await screen.findByRole("row", { name: /clusters\/x-needle/ });
  expect(within(screen.getByRole("table", { name: "Resources of this node" })).queryByRole("row", { name: /clusters\/web/ })).toBeNull();
  expect(asked).toContain("/nodes/eu/a/config?type=clusters&state=refused&limit=500&cursor=more");
});

test("why it has a resource, and the body that stands in", async () => {
  const asked = play(base, (q) => config([q.has("bodies") ? { ...held, body: { name: "web", connect_timeout: "3s" } } : held]));
  open(`${address}?open=clusters%2Fweb`);
  const dialog = within(await screen.findByRole("dialog"));
  expect(await dialog.findByText('The variant "eu" matches: locality.region=eu.')).toBeTruthy();
  expect(dialog.getByRole("row", { name: /us.*locality.region=us does not hold: the node has eu/ })).toBeTruthy();
  expect(await dialog.findByRole("heading", { name: "What stands in" })).toBeTruthy();
  await waitFor(() => expect(asked).toContain("/nodes/eu/a/config?type=clusters&state=refused&bodies=true&limit=50"));
  expect(await dialog.findByText(/3s/)).toBeTruthy();
});

test("a node that is not there", async () => {
  play(base);
  server.use(on("get", `${path}/nodes/:node`, () => problem(404, "not_found", "no such node")));
  open(address);
  expect(await screen.findByText("There is no such node in this fleet")).toBeTruthy();
});

test("when its node credential ends is told, and that it has ended", async () => {
  play({ ...base, credential_expires_at: "2026-01-02T00:00:00Z" });
  open(address);
  expect((await screen.findByText(/with it the node is not let in any more/)).textContent).toMatch(/days? ago|h ago/);
});
