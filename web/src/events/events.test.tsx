import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import { changed } from "../api/follow";
import type { AuditList, EventList, Fleet } from "../api/client";
import { open } from "../test/render";
import { get, me, on, problem, server } from "../test/server";

const path = "/v1/tenants/acme/fleets/edge";
const fleet: Fleet = {
  id: "f-1", name: "edge", description: "", references: "warn", node_ids: "shared", receipt_window: "1d", forget_nodes_after: "7d", static_clusters: [], private_clusters: [], local_ports: [],
  values: {}, etag: '"e1"', revision: 3, changed_at: "2026-11-24T10:00:00Z", resources: 2, created_at: "2026-11-20T10:00:00Z",
};
const unverified = { state: "unverified" as const, unchained: 0, deliveries: [] };
const events: EventList = {
  position: "9",
  next_cursor: "older-1",
  items: [
    { at: "2026-11-24T10:00:00Z", kind: "refused", node: "n-1", nodes: 12, node_ids: ["n-1", "n/2"], resource: { type: "clusters", name: "b/1" }, revision: 3, detail: "<b>no such cluster</b>", action: "kept the last known good version", action_code: "kept" },
    { at: "2026-11-24T09:00:00Z", kind: "denied", node: "<i>x</i>", reason: "token_revoked", attempts: 40, address: "10.0.0.9" },
  ],
};

beforeEach(() => server.use(get(path, fleet), get("/v1/tenants/acme/audit/verify", unverified), get("/v1/tenants/other/audit/verify", unverified)));

test("events are told in words, with links to the nodes, the resource and the revision", async () => {
  server.use(get(`${path}/events`, events));
  open("/fleets/edge/events");
  const [first, second] = within(await screen.findByRole("list", { name: "Events" })).getAllByRole("listitem");
  expect(first?.textContent).toContain("12 nodes refused clusters/b/1");
  expect(first?.textContent).toContain("<b>no such cluster</b>");
  expect(first?.textContent).toContain("What was done: kept the last known good version");
  expect(first?.textContent).toContain("and 10 more");
  expect(screen.getByRole("link", { name: "clusters/b/1" }).getAttribute("href")).toBe("/fleets/edge/resources/clusters/b%2F1");
  expect(screen.getByRole("link", { name: "n/2" }).getAttribute("href")).toBe("/fleets/edge/nodes/n%2F2");
  expect(screen.getByRole("link", { name: "revision 3" }).getAttribute("href")).toBe("/fleets/edge/history/3");
  expect(second?.textContent).toContain("<i>x</i> was not let in");
  expect(second?.textContent).toContain("The credential was revoked.");
  expect(second?.textContent).toContain("40 times · from 10.0.0.9");
});

test("filters and the page stand in the address and in the question, and events are asked again when there are new ones", async () => {
  const asked: string[] = [];
  server.use(
    get(`${path}/events`, (request) => {
      asked.push(new URL(request.url).search);
      return events;
    }),
  );
  open("/fleets/edge/events?kind=refused&node=n-1&since=1h");
  await userEvent.click(await screen.findByRole("button", { name: "Next page" }));
  await waitFor(() => expect(asked).toEqual(["?limit=50&grouped=true&kind=refused&node=n-1&since=1h", "?limit=50&grouped=true&kind=refused&node=n-1&since=1h&cursor=older-1"]));
  await userEvent.click(screen.getByRole("radio", { name: "Each one" }));
  await waitFor(() => expect(asked[2]).toBe("?limit=50&grouped=false&kind=refused&node=n-1&since=1h"));
  await screen.findByRole("list", { name: "Events" });
  changed(["events"], "edge");
  await waitFor(() => expect(asked).toHaveLength(4));
  await userEvent.clear(screen.getByLabelText("Node"));
  await userEvent.type(screen.getByLabelText("Node"), "n-2{Enter}");
  await waitFor(() => expect(asked[4]).toBe("?limit=50&grouped=false&kind=refused&node=n-2&since=1h"));
});

test("where nothing happened that is told, and where the filters take nothing that", async () => {
  server.use(get(`${path}/events`, { items: [], position: "0" }));
  open("/fleets/edge/events");
  expect(await screen.findByText("Nothing has happened yet")).toBeTruthy();
  await userEvent.selectOptions(screen.getByLabelText("When"), "1h");
  expect(await screen.findByText("No such events")).toBeTruthy();
});

const audit: AuditList = {
  items: [
    { at: "2026-11-24T10:00:00Z", kind: "resources.apply", object: "revision 3", by: { kind: "token", id: "t-1", name: "ada" }, address: "10.0.0.9", request_id: "r-1", fleet: "edge", old_revision: 2, new_revision: 3, detail: { changed: 1, resources: [["put", "clusters", "backend", ""]] } },
    { at: "2026-11-24T09:00:00Z", kind: "some.thing", object: "", by: { kind: "operator", name: "<b>op</b>" } },
  ],
};

test("the audit tells who did what, with links, its filters and an export of the same", async () => {
  const asked: string[] = [];
  server.use(
    get("/v1/tenants/acme/fleets", { items: [] }),
    get("/v1/tenants/acme/audit", (request) => {
      asked.push(new URL(request.url).search);
      return audit;
    }),
  );
  open("/audit?actor=ada&fleet=edge");
  const row = (await screen.findByText(/applied resources/)).closest("tr");
  expect(row?.textContent).toContain("ada");
  expect(within(row ?? document.body).getByRole("link", { name: "revision 3" }).getAttribute("href")).toBe("/fleets/edge/history/3");
  expect(within(row ?? document.body).getByText("backend", { selector: "a" }).getAttribute("href")).toBe("/fleets/edge/resources/clusters/backend");
  expect(screen.getByText(/the operator <b>op<\/b>/)).toBeTruthy();
  await userEvent.selectOptions(screen.getByLabelText("What"), "resources.apply");
  await waitFor(() => expect(asked.at(-1)).toBe("?limit=50&kind=resources.apply&actor=ada&fleet=edge"));
  expect(screen.getByRole("link", { name: "Export these as JSON lines" }).getAttribute("href")).toBe("/v1/tenants/acme/audit?format=jsonl&kind=resources.apply&actor=ada&fleet=edge");
});

test("the audit says whether it is as it was written", async () => {
  const check = "/v1/tenants/acme/audit/verify";
  server.use(get("/v1/tenants/acme/fleets", { items: [] }), get("/v1/tenants/acme/audit", audit), get(check, { ...unverified, state: "intact" as const, checked_at: "2026-11-24T10:00:00Z", checked_seq: 1204 }));
  const { unmount } = open("/audit");
  expect((await screen.findByText(/up to event 1204/)).textContent).toContain("as it was written");
  unmount();
  server.use(get(check, { ...unverified, state: "broken" as const, checked_at: "2026-11-24T10:00:00Z", fault: { what: "event_changed" as const, seq: 5, detail: "<b>the event</b> was changed" } }));
  open("/audit");
  expect((await screen.findByRole("alert")).textContent).toContain("At event 5: <b>the event</b> was changed");
});

test("a page of the audit that is empty and has another one says so", async () => {
  server.use(get("/v1/tenants/acme/fleets", { items: [] }), get("/v1/tenants/acme/audit", { items: [], next_cursor: "c" }));
  open("/audit?kind=node.retry");
  expect(await screen.findByText("None among these")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Next page" })).toHaveProperty("disabled", false);
});

test("who may not read the audit is told so, and it is not asked for", async () => {
  server.use(
    get("/v1/whoami", { ...me, role: "editor" as const }),
    on("get", "/v1/tenants/acme/audit", () => problem(403, "forbidden", "not for this role")),
  );
  open("/audit");
  expect(await screen.findByText(/Admins and owners read the audit/)).toBeTruthy();
  expect(screen.queryByRole("alert")).toBeNull();
});

test("an operator reads the audit of the tenant that the address names, without links into its fleets", async () => {
  server.use(get("/v1/whoami", { kind: "operator" as const, id: "o-1", name: "op" }), get("/v1/tenants/other/audit", audit));
  open("/audit?tenant=other");
  expect(await screen.findByText(/applied resources/)).toBeTruthy();
  expect(screen.queryByRole("link", { name: "edge" })).toBeNull();
});
