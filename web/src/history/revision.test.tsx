import { act, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import type { ReceiptNode } from "../api/client";
import { changed } from "../api/follow";
import { open } from "../test/render";
import { get, me, server } from "../test/server";
import { path, receipt, revisionPage } from "./example";

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
  const waits: ReceiptNode[] = [{ id: "n-1", state: "pending", withheld: [{ resource: { type: "listeners", name: "l" }, by: { type: "routes", name: "r" }, reason: "missing" }] }];
  server.use(get(`${path}/revisions/7/receipt`, () => receipt(7, "pending", { acked: 1, pending: 1, withheld: 1 }, waits)), ...revisionPage(7));
  open("/fleets/edge/history/7");
  expect((await screen.findByRole("link", { name: "Write it" })).getAttribute("href")).toBe("/fleets/edge/new?type=routes&name=r");
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
