import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import type { Load, LoadList, ResourceList } from "../api/client";
import { router } from "../app/router";
import { clearDraft, putEdit } from "../draft/store";
import { open } from "../test/render";
import { author, get, me, on, problem, server } from "../test/server";
import { backend, base, cert, fleet } from "./fixture";

const eu = { ...backend, variant: "eu", selector: "locality.region=eu", etag: '"8-bbbb"' };

/** Of which clusters the load was asked. */
let loadsOf: string[] = [];

const reported = (cluster: string, more: Partial<Load> = {}): Load => ({ cluster, minute: "2026-01-02T00:00:00Z", issued: 1200, successful: 1193, errors: 7, dropped: 0, ...more });

/** Answers the list, and keeps what was asked. */
function serve(page: ResourceList, load: LoadList = { items: [], left_out: 0 }) {
  const asked: URL[] = [];
  const answer = (request: Request) => {
    asked.push(new URL(request.url));
    return page;
  };
  server.use(get(base, fleet), get(`${base}/resources`, answer), get(`${base}/resources/:type`, answer), get(`${base}/load`, (request) => {
    loadsOf.push(new URL(request.url).searchParams.getAll("clusters").join());
    return load;
  }));
  loadsOf = [];
  clearDraft(author, "edge");
  return asked;
}

test("each resource with its revision, who changed it, its labels and its variant", async () => {
  const asked = serve({ items: [backend, eu, cert] });
  open("/fleets/edge/resources");
  const table = await screen.findByRole("table", { name: "Resources" });
  const rows = within(table).getAllByRole("row");
  expect(rows[1]?.textContent).toContain("team=shop");
  expect(rows[1]?.textContent).toContain("by ana");
  expect(rows[2]?.textContent).toContain("variant eu");
  expect(rows[2]?.textContent).toContain("locality.region=eu");
  expect(within(table).getAllByRole("link", { name: "backend" })[1]?.getAttribute("href")).toBe("/fleets/edge/resources/clusters/backend?variant=eu");
  expect(asked[0]?.searchParams.get("bodies")).toBe("false");
  expect(await screen.findByRole("link", { name: "clusters 2" })).toBeTruthy();
});

test("filters and pages stand in the address", async () => {
  const asked = serve({ items: [backend], next_cursor: "c2" });
  open("/fleets/edge/resources?type=clusters");
  await screen.findByRole("table", { name: "Resources" });
  await userEvent.type(screen.getByRole("textbox", { name: "Name begins with" }), "back");
  await waitFor(() => expect(router.state.location.search).toMatchObject({ prefix: "back", type: "clusters" }));
  await userEvent.type(screen.getByRole("textbox", { name: "Label" }), "team");
  expect(await screen.findByText("Write it as key=value.")).toBeTruthy();
  await userEvent.type(screen.getByRole("textbox", { name: "Label" }), "=shop");
  await waitFor(() => expect(asked.at(-1)?.searchParams.getAll("label")).toEqual(["team=shop"]));
  expect(asked.at(-1)?.pathname).toBe(`${base}/resources/clusters`);
  await userEvent.click(await screen.findByRole("button", { name: "Next page" }));
  await waitFor(() => expect(asked.at(-1)?.searchParams.get("cursor")).toBe("c2"));
  await userEvent.click(await screen.findByRole("button", { name: "Previous page" }));
  await waitFor(() => expect(router.state.location.search).not.toHaveProperty("cursor"));
  expect(await screen.findByRole("table", { name: "Resources" })).toBeTruthy();
});

test("edits of the draft are marked, and new ones are listed", async () => {
  serve({ items: [backend, cert] });
  putEdit(author, "edge", { action: "write", type: "clusters", name: "backend", text: "x", base: "y", etag: '"7-aaaa"', at: "2026-01-01T00:00:00Z" });
  putEdit(author, "edge", { action: "delete", type: "secrets", name: "cert", text: "", base: "", etag: '"3-ssss"', at: "2026-01-01T00:00:00Z" });
  putEdit(author, "edge", { action: "write", type: "routes", name: "fresh", text: "x", base: "", at: "2026-01-01T00:00:00Z" });
  open("/fleets/edge/resources");
  const table = await screen.findByRole("table", { name: "Resources" });
  expect(within(table).getByText("edited in the draft")).toBeTruthy();
  expect(within(table).getByText("to be deleted")).toBeTruthy();
  const fresh = screen.getByRole("region", { name: "New in the draft" });
  expect(within(fresh).getByRole("link", { name: /fresh/ }).getAttribute("href")).toBe("/fleets/edge/resources/routes/fresh");
  expect(screen.getByRole("link", { name: "Review and publish (3)" })).toBeTruthy();
});

test("an empty fleet says how to begin, a filter that nothing is behind it", async () => {
  serve({ items: [] });
  open("/fleets/edge/resources");
  expect(await screen.findByText("This fleet has no resources yet")).toBeTruthy();
  expect(screen.getByRole("link", { name: "listener" }).getAttribute("href")).toBe("/fleets/edge/new?kind=listener");
  open("/fleets/edge/resources?prefix=zzz");
  expect(await screen.findByText("Nothing matches")).toBeTruthy();
});

test("a viewer is told why nothing can be changed", async () => {
  serve({ items: [backend] });
  server.use(get("/v1/whoami", { ...me, role: "viewer" }));
  open("/fleets/edge/resources");
  expect(await screen.findByText(/Your role, viewer, may look at it and not change it/)).toBeTruthy();
  expect(screen.queryByRole("link", { name: "New resource" })).toBeNull();
});

test("an error is told with a way to try again", async () => {
  serve({ items: [] });
  server.use(on("get", `${base}/resources`, () => problem(403, "forbidden", "this token may not")));
  open("/fleets/edge/resources");
  expect((await screen.findByRole("alert")).textContent).toContain("this token may not");
});

test("of clusters the requests of the last hour are told, once for a name, and what they lack", async () => {
  serve({ items: [backend, eu, { ...backend, name: "idle" }] }, { items: [reported("backend", { dropped: 3 }), reported("elsewhere")], left_out: 2 });
  server.use(get("/v1/whoami", { ...me, role: "viewer" }));
  open("/fleets/edge/resources?type=clusters");
  await screen.findByRole("columnheader", { name: "Requests, last hour" });
  const cells = within(screen.getByRole("table", { name: "Resources" })).getAllByRole("row").slice(1).map((r) => r.querySelector('[data-label="Requests, last hour"]')?.textContent);
  expect(cells).toEqual(["1,200, 7 errors, 3 dropped", "", ""]);
  expect(loadsOf).toEqual(["backend,idle"]);
  expect(screen.getByRole("note").textContent).toContain("2 parts of the fleet's reports of the last hour were left out");
});

test("where nothing is reported there is no column of it, and of other types nothing is asked", async () => {
  serve({ items: [backend] });
  const { unmount } = open("/fleets/edge/resources?type=clusters");
  await screen.findByRole("table", { name: "Resources" });
  await waitFor(() => expect(loadsOf).toEqual(["backend"]));
  expect(screen.queryByRole("columnheader", { name: "Requests, last hour" })).toBeNull();
  unmount();
  serve({ items: [backend, cert] }, { items: [reported("backend")], left_out: 0 });
  open("/fleets/edge/resources");
  await screen.findByRole("table", { name: "Resources" });
  expect(loadsOf).toEqual([]);
  expect(screen.queryByRole("columnheader", { name: "Requests, last hour" })).toBeNull();
});
