import { screen, within } from "@testing-library/react";
import { beforeEach, expect, test, vi } from "vitest";
import type { Finding, FindingList, Receipt, ReceiptNode, ResourceList, Revision, RevisionList, Whoami } from "../api/client";
import { changed } from "../api/follow";
import { aFleet, newFleet } from "../start/made";
import { open } from "../test/render";
import { get, me, on, problem, server } from "../test/server";

// A canvas is nothing that jsdom has.
vi.mock("./latency-chart", () => ({ default: ({ label }: { label: string }) => <div role="img" aria-label={label} /> }));

const fleet = "/v1/tenants/acme/fleets/edge";
const at = "2026-01-02T00:00:00Z";
const counts = { acked: 3, nacked: 0, pending: 0, offline: 0, left: 0, withheld: 0, unaffected: 0, late: 0 };
const receipt = (revision: number, more: Partial<Receipt> = {}): Receipt => ({ revision, state: "delivered", counts, nodes: [], committed_at: at, first_ack_ms: 4, last_ack_ms: 12, ...more });
const revision = (n: number, more: Partial<Revision> = {}): Revision => ({ revision: n, kind: "apply", message: `the message of ${n}`, actor: "ci", committed_at: at, changed: 1, created: 0, updated: 1, deleted: 0, receipt: "delivered", ...more });
const finding = (more: Partial<Finding> = {}): Finding => ({ code: "missing_reference", severity: "error", type: "routes", name: "shop", pointer: "/body/x", detail: "routes/shop names clusters/nope: write it", ...more });
const found = (...items: Finding[]): FindingList => ({ revision: 7, errors: items.length, warnings: 0, infos: 0, items });

class Seen {
  constructor(private readonly tell: (entries: { isIntersecting: boolean }[]) => void) {}
  observe() {
    this.tell([{ isIntersecting: true }]);
  }
  disconnect() {}
}

let latest: Receipt;
let refusers: ReceiptNode[];

beforeEach(() => {
  vi.stubGlobal("IntersectionObserver", Seen);
  latest = receipt(7);
  refusers = [];
  server.use(
    get(fleet, aFleet("edge", { description: "of the shop" })),
    get<RevisionList>(`${fleet}/revisions`, { items: [revision(7), revision(6, { receipt: "rejected" })] }),
    get(`${fleet}/revisions/latest/receipt`, () => latest),
    get(`${fleet}/revisions/7/receipt`, (request) => (new URL(request.url).searchParams.get("state") === "nacked" ? { ...latest, nodes: refusers } : latest)),
    get(`${fleet}/revisions/6/receipt`, receipt(6, { state: "rejected", counts: { ...counts, acked: 0, nacked: 3 } })),
    get<FindingList>(`${fleet}/findings`, (request) => (new URL(request.url).searchParams.has("code") ? found() : found(finding()))),
    get<ResourceList>(`${fleet}/resources/secrets`, { items: [] }),
  );
  return () => vi.unstubAllGlobals();
});

test("a fleet at a glance: states, the newest receipt, the timeline, findings, times", async () => {
  open("/fleets/edge");
  expect(await screen.findByRole("img", { name: "3 in sync, 1 refusing" })).toBeTruthy();
  expect(await screen.findByText("3 of 3 nodes ACKed in 12 ms")).toBeTruthy();
  const marks = within(await screen.findByRole("list", { name: "Receipts, newest first" })).getAllByRole("link");
  expect(marks.map((m) => [m.getAttribute("aria-label"), m.getAttribute("href")])).toEqual([
    ["Revision 7: delivered, the message of 7", "/fleets/edge/history/7"],
    ["Revision 6: rejected, the message of 6", "/fleets/edge/history/6"],
  ]);
  expect((await screen.findByRole("link", { name: "routes/shop" })).getAttribute("href")).toContain("/fleets/edge/resources/routes/shop");
  expect(screen.getByRole("link", { name: "1 error" }).getAttribute("href")).toBe("/fleets/edge/findings");
  // Nobody ACKed revision 6, whatever its times say.
  expect(await screen.findByRole("img", { name: /Revision 7 had its last ACK 12 ms after the commit. 1 had no ACK as it came./ })).toBeTruthy();
});

test("revisions of endpoints that follow each other are told by their kind and how many they are", async () => {
  server.use(
    get<RevisionList>(`${fleet}/revisions`, { items: [revision(7, { kind: "endpoints", message: "endpoints of shop", run: 3 }), revision(4)] }),
    get(`${fleet}/revisions/4/receipt`, receipt(4)),
  );
  open("/fleets/edge");
  const marks = within(await screen.findByRole("list", { name: "Receipts, newest first" })).getAllByRole("link");
  expect(marks[0]?.getAttribute("aria-label")).toBe("Revisions 5 to 7: delivered, endpoints of shop");
  expect(within(screen.getByRole("region", { name: "Revisions" })).getByText(/^endpoints, 3 revisions, ci,/)).toBeTruthy();
  expect(await within(screen.getByRole("region", { name: "The newest revision" })).findByText(/^endpoints, 3 revisions by ci,/)).toBeTruthy();
});

test("a revision of endpoints that is refused has no way back", async () => {
  server.use(get<RevisionList>(`${fleet}/revisions`, { items: [revision(7, { kind: "endpoints" })] }));
  latest = receipt(7, { state: "rejected", counts: { ...counts, acked: 2, nacked: 1 } });
  refusers = [{ id: "a", state: "nacked", detail: "bad address" }];
  open("/fleets/edge");
  expect(await screen.findByText("bad address")).toBeTruthy();
  expect(screen.queryByRole("link", { name: /Roll back/ })).toBeNull();
});

test("identical words stand once, with the way back beside the first, as the event stream says so", async () => {
  open("/fleets/edge");
  await screen.findByText("3 of 3 nodes ACKed in 12 ms");
  const says = (id: string, detail: string): ReceiptNode => ({ id, state: "nacked", detail, action: "kept the last known good version", resource: { type: "listeners", name: "ingress" } });
  refusers = [says("c", "bad filter <b>x</b>"), ...Array.from({ length: 298 }, (_, i) => says(`n-${i}`, "cannot bind"))];
  latest = receipt(7, { state: "rejected", counts: { ...counts, acked: 1, nacked: 299 } });
  changed(["receipt"], "edge");
  const words = await screen.findByText("cannot bind");
  expect(screen.getAllByText("cannot bind")).toHaveLength(1);
  const first = words.closest<HTMLElement>('[role="alert"]');
  expect(first?.textContent).toContain("298 nodes: listeners/ingress");
  if (first) expect(within(first).getByRole("link", { name: "Roll back to revision 6" }).getAttribute("href")).toBe("/fleets/edge/rollback/6");
  expect(screen.getByText("bad filter <b>x</b>")).toBeTruthy(); // text, never markup
  expect(screen.getByRole("link", { name: "c" }).getAttribute("href")).toBe("/fleets/edge/nodes/c");
  expect(screen.getAllByRole("link", { name: /Roll back/ })).toHaveLength(1);
});

test("what nodes wait for is told", async () => {
  latest = receipt(7, {
    state: "pending",
    counts: { ...counts, acked: 2, pending: 1, withheld: 1 },
    nodes: [{ id: "a", state: "pending", withheld: [{ resource: { type: "listeners", name: "edge" }, by: { type: "routes", name: "r" }, reason: "missing" }] },
      { id: "b", state: "pending", warming: [{ type: "clusters", name: "slow" }] }, { id: "c", state: "pending", no_envoy: true }],
  });
  open("/fleets/edge");
  expect(await screen.findByText("listeners/edge waits for routes/r, which does not exist: write it")).toBeTruthy();
  expect(screen.getByText("clusters/slow is sent and not answered: something that it needs is still open, or the node is stuck")).toBeTruthy();
  expect(screen.getByText("c: no Envoy serves there: its files are written, and nothing is confirmed until one does")).toBeTruthy();
});

test("a viewer sees all of it and is offered no change", async () => {
  server.use(get<Whoami>("/v1/whoami", { ...me, role: "viewer" }));
  latest = receipt(7, { state: "rejected", counts: { ...counts, acked: 2, nacked: 1 } });
  refusers = [{ id: "a", state: "nacked", detail: "cannot bind" }];
  open("/fleets/edge");
  expect(await screen.findByText("cannot bind")).toBeTruthy();
  expect(screen.queryByRole("link", { name: /Roll back/ })).toBeNull();
  expect(screen.queryByRole("link", { name: "New resource" })).toBeNull();
});

test("certificates that end are told, and which of the secrets is next", async () => {
  const soon = finding({ code: "certificate_expires", severity: "warning", type: "secrets", name: "web", detail: "it expires in 12 days: replace it" });
  server.use(
    get<FindingList>(`${fleet}/findings`, (request) => (new URL(request.url).searchParams.get("code") === "certificate_expires" ? found(soon) : found())),
    get<ResourceList>(`${fleet}/resources/secrets`, {
      items: [{ type: "secrets", name: "web", version: "v", revision: 1, etag: '"1"', created_at: at, updated_at: at, secret: { kind: "tls_certificate", not_after: "2026-02-01T00:00:00Z" } }],
    }),
  );
  open("/fleets/edge");
  expect(await screen.findByText("it expires in 12 days: replace it")).toBeTruthy();
  expect((await screen.findByRole("link", { name: "web" })).getAttribute("href")).toBe("/fleets/edge/resources/secrets/web");
});

test("a fleet in which nothing was written shows the way", async () => {
  server.use(get(fleet, newFleet("edge")));
  open("/fleets/edge");
  expect((await screen.findByRole("link", { name: "Connect a proxy" })).getAttribute("href")).toBe("/fleets/edge/connect");
  expect(screen.getByRole("link", { name: "Make the first route" }).getAttribute("href")).toBe("/fleets/edge/new?kind=listener");
  expect(screen.getByText("No node has connected yet.", { exact: false })).toBeTruthy();
});

test("what fails is told in its place, and the rest stands", async () => {
  server.use(on("get", `${fleet}/findings`, () => problem(500, "internal", "findings cannot be told")));
  open("/fleets/edge");
  expect((await screen.findAllByText("findings cannot be told")).length).toBeGreaterThan(0);
  expect(await screen.findByText("3 of 3 nodes ACKed in 12 ms")).toBeTruthy();
});
