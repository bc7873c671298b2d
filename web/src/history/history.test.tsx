import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse } from "msw";
import { expect, test } from "vitest";
import type { Plan } from "../api/client";
import { open } from "../test/render";
import { get, me, on, problem, server } from "../test/server";
import { fleet, path, plan, revision, revisionPage } from "./example";

test("the history lists revisions with their receipts, and two are compared", async () => {
  server.use(get(path, fleet(9)), get(`${path}/revisions`, { items: [revision(9, { receipt: "rejected", message: "<i>why</i>" }), revision(8, { receipt: "delivered" })] }));
  open("/fleets/edge/history");
  expect(await screen.findByText("rejected")).toBeTruthy();
  expect(screen.getByText("<i>why</i>")).toBeTruthy();
  await userEvent.click(await screen.findByLabelText("Compare revision 9"));
  await userEvent.click(await screen.findByLabelText("Compare revision 8"));
  expect((await screen.findByRole("link", { name: "Compare 8 with 9" })).getAttribute("href")).toBe("/fleets/edge/compare?from=8&to=9");
});

test("a run of revisions of endpoints is one line, which says how many it stands for", async () => {
  const asked: string[] = [];
  const endpoints = { kind: "endpoints", message: "endpoints of shop", actor: "several" };
  server.use(get(path, fleet(57)), get(`${path}/revisions`, (r) => {
    asked.push(new URL(r.url).search);
    return { items: [revision(57, { ...endpoints, run: 46 }), revision(11, { changed: 0, updated: 0 }), revision(10, { ...endpoints, run: 1 })] };
  }));
  open("/fleets/edge/history?kind=endpoints");
  const table = await screen.findByRole("table", { name: "Revisions" });
  const cells = (row: number, title: string) => within(table).getAllByRole("row")[row]?.querySelector(`[data-label="${title}"]`)?.textContent;
  expect([cells(1, "Revision"), cells(1, "Who"), cells(1, "Changed")]).toEqual(["5746 revisions, from 12", "several · endpoints", "the newest: 1 updated"]);
  expect([cells(3, "Revision"), cells(3, "Changed")]).toEqual(["10", "1 updated"]);
  expect(asked).toEqual(["?limit=20&receipts=20&kind=endpoints"]);
});

test("pages go on and back, and what is ticked stays on its page", async () => {
  server.use(
    get(path, fleet(9)),
    get(`${path}/revisions`, (r) => (new URL(r.url).searchParams.get("cursor") === "two" ? { items: [revision(1, {})] } : { items: [revision(9, {})], next_cursor: "two" })),
  );
  open("/fleets/edge/history");
  await userEvent.click(await screen.findByRole("button", { name: "Next page" }));
  await userEvent.click(await screen.findByLabelText("Compare revision 1"));
  expect(await screen.findByRole("link", { name: "Compare 1 with the newest" })).toBeTruthy();
  expect(screen.getByText("page 2")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Previous page" }));
  expect(await screen.findByLabelText("Compare revision 9")).toBeTruthy();
  expect(screen.getByText("page 1")).toBeTruthy();
});

test("who comes by a link to a later page finds the first one", async () => {
  server.use(get(path, fleet(9)), get(`${path}/revisions`, { items: [revision(1, {})] }));
  open("/fleets/edge/history?cursor=two");
  expect(await screen.findByText("a later page")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "First page" }));
  await waitFor(() => expect(screen.queryByRole("navigation", { name: "Pages of revisions" })).toBeNull());
});

test("filters stand in the address and go to the API", async () => {
  const asked: string[] = [];
  server.use(get(path, fleet(9)), get(`${path}/revisions`, (r) => { asked.push(new URL(r.url).search); return { items: [] }; }));
  open("/fleets/edge/history?kind=rollback&type=clusters&cursor=c");
  expect(await screen.findByText("No revision fits")).toBeTruthy();
  expect(asked).toEqual(["?limit=20&receipts=20&kind=rollback&type=clusters&cursor=c"]);
  await userEvent.type(screen.getByLabelText("Changed name"), "a{Enter}");
  await waitFor(() => expect(asked.at(-1)).toBe("?limit=20&receipts=20&kind=rollback&type=clusters&name=a"));
});

test("a history without revisions says what to do, and an error is told", async () => {
  server.use(get(path, fleet(0)), get(`${path}/revisions`, { items: [] }));
  const { unmount } = open("/fleets/edge/history");
  expect(await screen.findByRole("link", { name: "Write a resource" })).toBeTruthy();
  unmount();
  server.use(on("get", `${path}/revisions`, () => problem(403, "forbidden", "not your fleet")));
  open("/fleets/edge/history");
  expect(await screen.findByText("not your fleet")).toBeTruthy();
});

test("a comparison asks for both sides of what differs", async () => {
  const asked: string[] = [];
  const side = { revision: 1, version: "v", updated_at: "2026-01-01T00:00:00Z" };
  server.use(
    get(path, fleet(9)),
    get(`${path}/compare`, (r) => { asked.push(new URL(r.url).search); return { from: 3, to: 9, items: [{ type: "clusters" as const, name: "a", variant: "eu", action: "update" as const, before: side, after: side }] }; }),
    get(`${path}/resources/clusters/a`, (r) => { asked.push(new URL(r.url).search); return { type: "clusters" as const, name: "a" }; }),
  );
  open("/fleets/edge/compare?from=3&type=clusters");
  expect(await screen.findByRole("region", { name: "clusters/a (eu)" })).toBeTruthy();
  await waitFor(() => expect(asked).toEqual(["?from=3&to=latest&limit=20&type=clusters", "?revision=3&variant=eu", "?revision=9&variant=eu"]));
});

const rolledBack = () => HttpResponse.json({ revision: 10, changed: 1, committed_at: "2026-01-01T00:00:00Z", resources: [] });

function playRollback(p: Plan, answer: () => Response = rolledBack) {
  const asked: { url: string; body: unknown }[] = [];
  const keep = async (request: Request) => asked.push({ url: new URL(request.url).pathname, body: await request.json() });
  server.use(
    ...revisionPage(10),
    get(`${path}/revisions/8`, revision(8, { message: "the good one" })),
    on("post", `${path}/rollback/plan`, async ({ request }) => { await keep(request); return HttpResponse.json(p); }),
    on("post", `${path}/rollback`, async ({ request }) => { await keep(request); return answer(); }),
  );
  return asked;
}

test("a rollback shows its plan, and does what was seen", async () => {
  const asked = playRollback(plan({ revision: 9 }));
  open("/fleets/edge/rollback/8?type=clusters&name=a&variant=eu");
  expect(await screen.findByText("1 to update, compared with revision 9")).toBeTruthy();
  await userEvent.type(screen.getByLabelText("Message"), "it was better");
  await userEvent.click(screen.getByRole("button", { name: "Roll back" }));
  expect(await screen.findByRole("heading", { name: "Revision 10" })).toBeTruthy();
  const one = [{ type: "clusters", name: "a", variant: "eu" }];
  expect(asked).toEqual([
    { url: `${path}/rollback/plan`, body: { revision: 8, resources: one } },
    { url: `${path}/rollback`, body: { revision: 8, resources: one, message: "it was better", plan: "plan-1" } },
  ]);
});

test("a rollback that takes much away is confirmed by what its plan told", async () => {
  const asked = playRollback(plan({ confirm: [{ code: "refused_version", count: 1, detail: "nodes have refused this" }] }));
  open("/fleets/edge/rollback/8");
  await userEvent.click(await screen.findByLabelText(/it is meant/));
  await userEvent.click(screen.getByRole("button", { name: "Roll back all the same" }));
  expect(await screen.findByRole("heading", { name: "Revision 10" })).toBeTruthy();
  expect(asked[1]?.body).toEqual({ revision: 8, confirm: "plan-1" });
});

test("a rollback that changes nothing cannot be made, nor one by a viewer", async () => {
  playRollback(plan({ counts: { create: 0, update: 0, delete: 0, unchanged: 0 }, resources: [] }));
  const { unmount } = open("/fleets/edge/rollback/8");
  expect(await screen.findByRole("button", { name: "Roll back" })).toHaveProperty("disabled", true);
  unmount();
  const asked = playRollback(plan({}));
  server.use(get("/v1/whoami", { ...me, role: "viewer" }));
  open("/fleets/edge/rollback/8");
  expect(await screen.findByText(/Your role is viewer/)).toBeTruthy();
  expect(asked).toEqual([]);
});
