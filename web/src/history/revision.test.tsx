import { act, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import type { ReceiptNode } from "../api/client";
import { changed } from "../api/follow";
import { open } from "../test/render";
import { get, me, server } from "../test/server";
import { fleet, path, receipt, revision, revisionPage } from "./example";

const refused = (n: number): ReceiptNode[] => Array.from({ length: n }, (_, i) => ({ id: `n-${i}`, state: "nacked", detail: "bad <b>regex</b>", resource: { type: "clusters", name: "a" }, action: "kept the last known good version" }));

test("the same words of many nodes are told once, with the way back beside them", async () => {
  server.use(get(`${path}/revisions/7/receipt`, () => receipt(7, "rejected", { acked: 2, nacked: 298 }, refused(298))), ...revisionPage(7));
  open("/fleets/edge/history/7");
  expect(await screen.findByText("2 of 300 nodes ACKed, 298 refused.")).toBeTruthy();
  const said = await screen.findByText("298 nodes refused", { exact: false });
  const alert = said.closest<HTMLElement>("[role=alert]") ?? document.body;
  expect(within(alert).getByText("bad <b>regex</b>")).toBeTruthy();
  expect(within(alert).getByRole("link", { name: "n-0" }).getAttribute("href")).toBe("/fleets/edge/nodes/n-0");
  expect(within(alert).getByText(/and 293 more/)).toBeTruthy();
  expect(within(alert).getByRole("link", { name: "Roll back to revision 6" }).getAttribute("href")).toBe("/fleets/edge/rollback/6");
  expect(screen.getByRole("link", { name: "Roll back this resource alone" }).getAttribute("href")).toBe("/fleets/edge/rollback/6?type=clusters&name=a");
});

test("it turns as the nodes answer", async () => {
  let answered = false;
  server.use(
    get(`${path}/revisions/7/receipt`, () => (answered ? receipt(7, "delivered", { acked: 2 }) : receipt(7, "pending", { acked: 1, pending: 1 }))),
    ...revisionPage(7),
  );
  open("/fleets/edge/history/7");
  expect(await screen.findByText("1 of 2 nodes ACKed, 1 not answered yet.")).toBeTruthy();
  answered = true;
  act(() => changed(["receipt"], "edge"));
  expect(await screen.findByText("2 of 2 nodes ACKed.")).toBeTruthy();
  expect(screen.getByText("delivered")).toBeTruthy();
});

test("what nodes wait for is told with its reason", async () => {
  const waits: ReceiptNode[] = [{ id: "n-1", state: "pending", withheld: [{ resource: { type: "listeners", name: "l" }, by: { type: "routes", name: "r" }, reason: "missing" }] },
    { id: "n-2", state: "pending", warming: [{ type: "clusters", name: "slow" }] }, { id: "n-3", state: "pending", no_envoy: true }];
  server.use(get(`${path}/revisions/7/receipt`, () => receipt(7, "pending", { acked: 1, pending: 1, withheld: 1 }, waits)), ...revisionPage(7));
  open("/fleets/edge/history/7");
  expect((await screen.findByRole("link", { name: "Write it" })).getAttribute("href")).toBe("/fleets/edge/new?type=routes&name=r");
  expect(document.body.textContent).toContain("clusters/slow is sent and not answered: something that it needs is still open, or the node is stuck");
  expect(document.body.textContent).toContain("no Envoy serves there: its files are written, and nothing is confirmed until one does");
});

test("what was taken and cannot work is not called delivered alone", async () => {
  const error = { code: "missing_reference" as const, severity: "error" as const, type: "routes" as const, name: "r", pointer: "/body", detail: "routes/r names clusters/a, which this deletes", to: { type: "clusters" as const, name: "a" } };
  server.use(get(`${path}/findings`, { revision: 7, errors: 1, warnings: 0, infos: 0, items: [error, { ...error, name: "other", to: { type: "clusters" as const, name: "z" } }] }), ...revisionPage(7));
  open("/fleets/edge/history/7");
  expect(await screen.findByText("delivered, with 1 error")).toBeTruthy();
  expect(screen.queryByText("delivered")).toBeNull();
  expect(screen.getByRole("link", { name: "routes/r" })).toBeTruthy();
});

test("the nodes of a state are asked for by the address", async () => {
  const asked: string[] = [];
  server.use(get(`${path}/revisions/7/receipt`, (r) => { asked.push(new URL(r.url).search); return { ...receipt(7, "delivered", { acked: 2, offline: 1 }, [{ id: "n-9", state: "acked" }]), next_cursor: "next" }; }), ...revisionPage(7));
  open("/fleets/edge/history/7?state=offline");
  await screen.findByRole("table", { name: "Nodes: offline" });
  expect(asked).toContain("?state=offline&limit=20");
  await userEvent.click(screen.getByRole("button", { name: "2 have it" }));
  await screen.findByRole("table", { name: "Nodes: have it" });
  await userEvent.click(screen.getByRole("button", { name: "Next page" }));
  await screen.findByRole("table", { name: "Nodes: have it" });
  expect(asked).toContain("?state=acked&limit=20&cursor=next");
});

test("a viewer sees what was refused, and why there is no way back for them", async () => {
  server.use(get("/v1/whoami", { ...me, role: "viewer" }), get(`${path}/revisions/7/receipt`, () => receipt(7, "rejected", { nacked: 1 }, refused(1))), ...revisionPage(7));
  open("/fleets/edge/history/7");
  expect(await screen.findByText(/Your role is viewer/)).toBeTruthy();
  expect(screen.queryByRole("link", { name: /Roll back/ })).toBeNull();
});

test("an address without a revision says so", async () => {
  server.use(...revisionPage(7));
  open("/fleets/edge/history/seven");
  expect(await screen.findByText("There is no such revision")).toBeTruthy();
});

test("all that a node refused is told: each words once, and beside the node what else it refused", async () => {
  const other = { detail: "no such filter", resource: { type: "listeners" as const, name: "l" }, action: "left out" };
  const nodes: ReceiptNode[] = [
    { id: "n-0", state: "nacked", detail: "bad regex", resource: { type: "clusters", name: "a" }, also_refused: [other, { ...other, resource: { type: "listeners", name: "m" }, ended: "taken" }], more_refused: 4 },
    { id: "n-1", state: "nacked", ...other },
  ];
  server.use(get(`${path}/revisions/7/receipt`, () => receipt(7, "rejected", { nacked: 2 }, nodes)), ...revisionPage(7));
  open("/fleets/edge/history/7");
  await screen.findByText("4 more refusals of these nodes: see the nodes' own pages.");
  const alerts = screen.getAllByRole("alert").map((a) => a.textContent);
  expect(alerts).toHaveLength(3);
  expect(alerts[0]).toContain("2 nodes refused listeners/l");
  expect(alerts[1]).toContain("1 node refused clusters/a");
  expect(alerts[2]).toContain("1 node refused listeners/m");
  expect(alerts[2]).toContain("it has what it is to have since then");
  const row = within(await screen.findByRole("table", { name: "Nodes: refused" })).getAllByRole("row")[1] ?? document.body;
  await userEvent.click(within(row).getByText("and refused 6 more of this revision"));
  expect(within(row).getAllByRole("listitem").map((l) => l.textContent)).toEqual([
    "listeners/l: left outno such filter",
    "listeners/m: left outno such filterit has what it is to have since then",
    "4 that are not listed here: the node's page",
  ]);
  expect(within(row).getByRole("link", { name: "the node's page" }).getAttribute("href")).toBe("/fleets/edge/nodes/n-0");
});

test("however many words there are, a page shows some", async () => {
  const nodes: ReceiptNode[] = Array.from({ length: 60 }, (_, i) => ({ id: `n-${i}`, state: "nacked", detail: `words ${i}` }));
  server.use(get(`${path}/revisions/7/receipt`, () => receipt(7, "rejected", { nacked: 60 }, nodes)), ...revisionPage(7));
  open("/fleets/edge/history/7");
  await screen.findByText("And 10 more of other words: see the nodes.");
  expect(screen.getAllByRole("alert")).toHaveLength(50);
});

test("a revision of endpoints says that it changed no document, what it stands for, and offers no way back that leads nowhere", async () => {
  const r = { kind: "endpoints", message: "endpoints of shop", run: 46 };
  server.use(
    get(path, fleet(57)),
    get(`${path}/revisions/57`, revision(57, r)),
    get(`${path}/revisions/57/changes`, { from: 56, to: 57, items: [] }),
    get(`${path}/revisions/57/receipt`, () => receipt(57, "rejected", { nacked: 1 }, refused(1))),
    ...revisionPage(57),
  );
  open("/fleets/edge/history/57");
  const changed = within(await screen.findByRole("region", { name: "What it changed" }));
  expect(changed.getByText(/It changed what is served/).textContent).toBe("It changed what is served of endpoints that are data, and no document: 1 updated.");
  expect(changed.getByText("The history shows it as the newest of 46 revisions of this kind that follow each other, 12 to 57.")).toBeTruthy();
  expect((await screen.findByRole("link", { name: "The one before, revision 11" })).getAttribute("href")).toBe("/fleets/edge/history/11");
  expect(await screen.findByText("A rollback changes documents alone. Set other endpoints, or correct their document.")).toBeTruthy();
  expect(screen.queryByRole("link", { name: /Roll back/ })).toBeNull();
});
