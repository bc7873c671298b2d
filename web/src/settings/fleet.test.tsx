import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse } from "msw";
import { beforeEach, expect, test } from "vitest";
import type { CredentialCreated, CredentialList, Fleet, FleetUsage, Guard } from "../api/client";
import { open } from "../test/render";
import { get, me, on, problem, server } from "../test/server";

const path = "/v1/tenants/acme/fleets/edge";
const fleet: Fleet = {
  id: "f-1", name: "edge", description: "the edge", references: "warn", node_ids: "shared", receipt_window: "1d", forget_nodes_after: "7d", static_clusters: [], private_clusters: [], local_ports: [],
  values: { BACKEND: "backend.internal" }, etag: '"e1"', revision: 3, changed_at: "2026-11-24T10:00:00Z", resources: 2, created_at: "2026-11-20T10:00:00Z",
};
const usage: FleetUsage = { fleet: "edge", items: [{ what: "resources", of: "fleet", limit: 50_000, default: 50_000, overridden: false, used: 25_000 }] };
const credentials: CredentialList = { items: [{ id: "c-1", nodes: "router-*", description: "<b>routers</b>", created_at: "2026-11-20T10:00:00Z", expires_at: "2100-01-01T00:00:00Z", made_by: { kind: "token", name: "ada" }, last_used_at: "2026-11-24T10:00:00Z", last_used_from: "10.0.0.7" }] };
const guard: Guard = { items: [{ rule: "code", code: "guard_code", covers: "what runs code", reason: "this runs code", roles: ["admin", "owner"] }], log_paths: ["/dev/stdout"] };

beforeEach(() => {
  server.use(get(path, fleet), get(`${path}/usage`, usage), get(`${path}/credentials`, credentials), get("/v1/guard", guard));
});

test("the settings are shown, and what is changed is sent alone", async () => {
  const sent: unknown[] = [];
  server.use(
    on("patch", path, async ({ request }) => {
      sent.push(await request.json());
      expect(request.headers.get("If-Match")).toBe('"e1"');
      server.use(get(path, { ...fleet, references: "strict" as const }));
      return HttpResponse.json({ ...fleet, references: "strict" });
    }),
  );
  open("/fleets/edge/settings");
  const save = await screen.findByRole("button", { name: "Save" });
  expect(save).toHaveProperty("disabled", true);
  expect(screen.getByLabelText("Receipt window")).toHaveProperty("value", "1d");
  await userEvent.click(screen.getByLabelText("Strict"));
  await userEvent.click(save);
  expect(await screen.findByText("Saved.")).toBeTruthy();
  expect(sent).toEqual([{ references: "strict" }]);
  expect(screen.getByRole("progressbar", { name: "Resources: 50 % used" })).toBeTruthy();
  expect(screen.getByText("<b>routers</b>")).toBeTruthy();
  expect(await screen.findByText("what runs code")).toBeTruthy();
  expect(screen.getByText("admin and above")).toBeTruthy();
  expect(screen.queryByText("not you")).toBeNull();
});

test("local ports are typed as numbers, and who opens that of the admin interface is warned", async () => {
  const sent: unknown[] = [];
  server.use(
    on("patch", path, async ({ request }) => {
      sent.push(await request.json());
      return HttpResponse.json({ ...fleet, local_ports: [8080, 9901] });
    }),
  );
  open("/fleets/edge/settings");
  const field = await screen.findByLabelText("Local ports", { selector: "input" });
  await userEvent.type(field, "8080{Enter}");
  expect(screen.queryByText("9901 is where Envoy's admin interface listens by default")).toBeNull();
  await userEvent.type(field, "9901{Enter}");
  expect(screen.getByText("9901 is where Envoy's admin interface listens by default")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(sent).toEqual([{ local_ports: [8080, 9901] }]));
});

test("what a fleet says of load reports can be changed", async () => {
  const sent: unknown[] = [];
  server.use(
    on("patch", path, async ({ request }) => {
      sent.push(await request.json());
      return HttpResponse.json({ ...fleet, load_report_interval: "30s" });
    }),
  );
  open("/fleets/edge/settings");
  await userEvent.type(await screen.findByLabelText("Load report interval"), "30s");
  await userEvent.type(screen.getByLabelText("Load report clusters", { selector: "input" }), "backend{Enter}");
  await userEvent.click(screen.getByLabelText("Load of each endpoint"));
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(sent).toEqual([{ load_report_interval: "30s", load_report_clusters: ["backend"], load_report_endpoints: true }]));
});

test("what the server refuses is told with its fault, and what was typed stays", async () => {
  server.use(on("patch", path, () => problem(400, "bad_request", "the body is not acceptable", { errors: [{ pointer: "/receipt_window", code: "invalid", detail: "from 1m to 30d" }] })));
  open("/fleets/edge/settings");
  const field = await screen.findByLabelText("Receipt window");
  await userEvent.clear(field);
  await userEvent.type(field, "99d");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toContain("/receipt_window from 1m to 30d");
  expect(field).toHaveProperty("value", "99d");
});

test("settings that somebody else has changed are not overwritten unseen", async () => {
  const tags: (string | null)[] = [];
  server.use(
    on("patch", path, ({ request }) => {
      tags.push(request.headers.get("If-Match"));
      if (tags.length > 1) return HttpResponse.json({ ...fleet, etag: '"e3"' });
      server.use(get(path, { ...fleet, etag: '"e2"', description: "another one", receipt_window: "2d" }));
      return problem(412, "precondition_failed", "the settings are other ones by now");
    }),
  );
  open("/fleets/edge/settings");
  const field = await screen.findByLabelText("Receipt window");
  await userEvent.clear(field);
  await userEvent.type(field, "3d");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(await screen.findByText("Somebody else has changed the settings meanwhile")).toBeTruthy();
  expect(await screen.findByDisplayValue("another one")).toBeTruthy();
  expect(field).toHaveProperty("value", "3d");
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(tags).toEqual(['"e1"', '"e2"']));
});

test("who may not change them reads them, and credentials are not asked for", async () => {
  server.use(
    get("/v1/whoami", { ...me, role: "editor" as const }),
    on("get", `${path}/credentials`, () => {
      throw new Error("asked for credentials");
    }),
  );
  open("/fleets/edge/settings");
  expect(await screen.findByText("the edge")).toBeTruthy();
  expect(screen.getByRole("note").textContent).toContain("with the role editor one reads");
  expect(screen.queryByRole("button", { name: "Save" })).toBeNull();
  expect(screen.getByText(/seen in the 1d before the revision/)).toBeTruthy();
  expect(screen.queryByRole("textbox")).toBeNull();
  expect(screen.queryByRole("button", { name: /Remove|Revoke|Delete|Make/ })).toBeNull();
  expect(await screen.findByText("not you")).toBeTruthy();
});

test("a value is added and removed", async () => {
  const sent: unknown[] = [];
  server.use(
    on("patch", path, async ({ request }) => {
      sent.push(await request.json());
      return HttpResponse.json(fleet);
    }),
  );
  open("/fleets/edge/settings");
  await userEvent.click(await screen.findByRole("button", { name: "Add a value" }));
  const form = within(await screen.findByRole("dialog"));
  await userEvent.type(form.getByLabelText("Name"), "2X");
  await userEvent.type(form.getByLabelText("Value"), "8080");
  expect(form.getByRole("button", { name: "Save" })).toHaveProperty("disabled", true);
  await userEvent.clear(form.getByLabelText("Name"));
  await userEvent.type(form.getByLabelText("Name"), "PORT");
  await userEvent.click(form.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  await userEvent.click(screen.getByRole("button", { name: "Remove BACKEND" }));
  await userEvent.click(await screen.findByRole("button", { name: "Remove it" }));
  await waitFor(() => expect(sent).toEqual([{ values: { PORT: "8080" } }, { values: { BACKEND: "" } }]));
});

test("a credential is made and shown once, and one is revoked after a question", async () => {
  const made: CredentialCreated = { credential: { id: "c-2", nodes: "edge-*", description: "", created_at: "2026-11-24T10:00:00Z" }, token: "flf1.secret" };
  let revoked = "";
  server.use(
    on("post", `${path}/credentials`, async ({ request }) => {
      expect(await request.json()).toEqual({ nodes: "edge-*" });
      return HttpResponse.json(made, { status: 201 });
    }),
    on("delete", `${path}/credentials/:id`, ({ params }) => {
      revoked = String(params.id);
      return new HttpResponse(null, { status: 204 });
    }),
  );
  open("/fleets/edge/settings");
  await userEvent.click(await screen.findByRole("button", { name: "Make a credential" }));
  const form = within(await screen.findByRole("dialog"));
  const nodes = form.getByLabelText("Node ids");
  await userEvent.clear(nodes);
  await userEvent.type(nodes, "edge-*");
  await userEvent.click(form.getByRole("button", { name: "Make it" }));
  expect(await screen.findByText("flf1.secret")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "I have it" }));
  await waitFor(() => expect(screen.queryByText("flf1.secret")).toBeNull());
  await userEvent.click(screen.getByRole("button", { name: /Revoke the credential of router-\*/ }));
  expect(revoked).toBe("");
  await userEvent.click(await screen.findByRole("button", { name: "Revoke it" }));
  await waitFor(() => expect(revoked).toBe("c-1"));
});

test("a credential tells its maker and its last use, and is renewed for the same nodes", async () => {
  const renewed: CredentialCreated = { credential: { id: "c-3", nodes: "router-*", description: "", created_at: "2026-11-24T10:00:00Z" }, token: "flf1.next" };
  let asked = "";
  server.use(
    get(`${path}/credentials`, { items: [...credentials.items, { id: "c-0", nodes: "old-*", description: "", created_at: "2026-11-20T10:00:00Z" }] }),
    on("post", `${path}/credentials/:id/renew`, async ({ params, request }) => {
      asked = `${String(params.id)} ${await request.text()}`;
      return HttpResponse.json(renewed, { status: 201 });
    }),
  );
  open("/fleets/edge/settings");
  const row = (await screen.findByText("router-*")).closest("tr");
  expect(row?.textContent).toContain("by ada");
  expect(row?.textContent).toContain("10.0.0.7");
  expect((await screen.findByText("old-*")).closest("tr")?.textContent).toContain("by whom is not known");
  await userEvent.click(screen.getByRole("button", { name: /Renew the credential of router-\*/ }));
  await userEvent.click(await screen.findByRole("button", { name: "Renew it" }));
  expect(await screen.findByText("flf1.next")).toBeTruthy();
  expect(asked).toBe("c-1 {}");
});

test("a fleet with nodes is deleted after its name was typed and the server's question answered", async () => {
  const asked: (string | null)[] = [];
  server.use(
    get("/v1/tenants/acme/fleets", { items: [] }),
    on("delete", path, ({ request }) => {
      const confirm = new URL(request.url).searchParams.get("confirm");
      asked.push(confirm);
      if (confirm === "yes-1") return new HttpResponse(null, { status: 204 });
      return problem(428, "confirmation_required", "confirm it", { token: "yes-1", confirm: [{ code: "live_nodes", count: 3, detail: "3 nodes are connected" }] });
    }),
  );
  open("/fleets/edge/settings");
  await userEvent.click(await screen.findByRole("button", { name: "Delete the fleet" }));
  const question = within(await screen.findByRole("dialog"));
  expect(question.getByRole("button", { name: "Delete it" })).toHaveProperty("disabled", true);
  await userEvent.type(question.getByLabelText("Type edge to go on"), "edge");
  await userEvent.click(question.getByRole("button", { name: "Delete it" }));
  expect(await question.findByText("3 nodes are connected")).toBeTruthy();
  await userEvent.click(question.getByRole("button", { name: "Delete it all the same" }));
  await waitFor(() => expect(asked).toEqual([null, "yes-1"]));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
});
