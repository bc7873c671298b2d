import { fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse } from "msw";
import { beforeEach, expect, test, vi } from "vitest";
import type { Fleet, Imported, Plan, Resource, ResourceList, WriteResult } from "../api/client";
import { router } from "../app/router";
import { clearDraft, putEdit, readDraft } from "../draft/store";
import { open } from "../test/render";
import { author, get, me, on, problem, server } from "../test/server";

const edge = "/v1/tenants/acme/fleets/edge";
const prod = "/v1/tenants/acme/fleets/prod";
const at = "2026-01-01T00:00:00Z";

const fleet: Fleet = {
  id: "f", name: "edge", description: "", references: "warn", node_ids: "shared", receipt_window: "1d", forget_nodes_after: "7d", etag: '"s-1"',
  static_clusters: [], private_clusters: [], local_ports: [], values: { HOST: "a.internal" }, revision: 3, changed_at: at, resources: 2, created_at: at,
};
const stored = (r: Partial<Resource> & Pick<Resource, "type" | "name">): Resource => ({ version: "v", revision: 2, etag: `"2-${r.name}"`, created_at: at, updated_at: at, ...r });
const backend = stored({ type: "clusters", name: "backend", body: { name: "backend", host: "${fleet.values.HOST}" } });
const cert = stored({ type: "secrets", name: "cert", secret: { kind: "tls_certificate" } });

beforeEach(() => {
  clearDraft(author, "edge");
  server.use(
    get(edge, fleet),
    get(prod, { ...fleet, name: "prod", revision: 8, values: {} }),
    get("/v1/tenants/acme/fleets", { items: [fleet, { ...fleet, name: "prod" }] }),
    get(`${edge}/resources`, { items: [backend, cert] } satisfies ResourceList),
  );
});

const found: Imported = {
  resources: [{ type: "clusters", name: "backend", body: { name: "backend" } }, { type: "listeners", name: "web", body: { name: "web" } }],
  left_out: [{ what: "stats_sinks", reason: "a control plane does not serve it" }],
  notes: [{ what: "admin", reason: "a flag of fairlead bootstrap" }],
};

const paste = async (text: string) => {
  fireEvent.change(await screen.findByLabelText(/Bootstrap or config dump/), { target: { value: text } });
  await userEvent.click(screen.getByRole("button", { name: "Show what would be taken over" }));
};

test("what is imported is chosen from, and put into the draft beside what the fleet has", async () => {
  const asked: string[] = [];
  server.use(
    on("post", `${edge}/import`, async ({ request }) => {
      asked.push(new URL(request.url).search, request.headers.get("Content-Type") ?? "", await request.text());
      return HttpResponse.json(found);
    }),
    get(`${edge}/resources/clusters`, { items: [stored({ type: "clusters", name: "backend", variant: "eu", body: {} }), backend] }),
  );
  open("/fleets/edge/import");
  await paste("static_resources: {}");
  expect(await screen.findByText(/a control plane does not serve it/)).toBeTruthy();
  expect(asked).toEqual(["?rds=true&eds=true", "application/yaml", "static_resources: {}"]);
  await userEvent.click(screen.getByRole("checkbox", { name: "listeners/web" }));
  await userEvent.click(screen.getByRole("button", { name: "Put 1 into the draft" }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/fleets/edge/draft"));
  const [edit, ...more] = readDraft(author, "edge").edits;
  expect(more).toEqual([]);
  expect(edit).toMatchObject({ action: "write", type: "clusters", name: "backend", etag: '"2-backend"', text: "type: clusters\nname: backend\nbody:\n  name: backend\n" });
  expect(edit?.base).toContain("host:");
});

test("what somebody has in the draft is not replaced unasked", async () => {
  putEdit(author, "edge", { action: "write", type: "listeners", name: "web", text: "typed", base: "", at });
  server.use(on("post", `${edge}/import`, () => HttpResponse.json(found)));
  open("/fleets/edge/import");
  await paste('{"static_resources": {}}');
  expect(await screen.findByText("replaces what is in the draft")).toBeTruthy();
  expect(screen.getByRole<HTMLInputElement>("checkbox", { name: "listeners/web" }).checked).toBe(false);
  expect(screen.getByRole("button", { name: "Put 1 into the draft" })).toBeTruthy();
});

test("a dropped file is taken; one that is too large is refused before it is sent", async () => {
  open("/fleets/edge/import");
  const field = await screen.findByLabelText<HTMLTextAreaElement>(/Bootstrap or config dump/);
  fireEvent.drop(field, { dataTransfer: { files: [new File(["static_resources: {}"], "envoy.yaml")] } });
  await waitFor(() => expect(field.value).toBe("static_resources: {}"));
  fireEvent.drop(field, { dataTransfer: { files: [new File(["x".repeat(5 * 1024 * 1024)], "dump.json")] } });
  expect((await screen.findByRole("alert")).textContent).toContain("dump.json is 5.0 MiB");
});

test("what cannot be read is told with the server's words", async () => {
  server.use(on("post", `${edge}/import`, () => problem(400, "invalid_document", "yaml: line 2: did not find expected node content")));
  open("/fleets/edge/import");
  await paste("a: [");
  expect((await screen.findByRole("alert")).textContent).toContain("line 2");
});

test("a viewer is told, and not offered what the server would refuse", async () => {
  server.use(get("/v1/whoami", { ...me, role: "viewer" }));
  open("/fleets/edge/import");
  expect(await screen.findByText("You may look at this fleet, and not write to it")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Show what would be taken over" })).toBeNull();
});

test("a viewer promotes nothing, nor does a token of one fleet", async () => {
  server.use(get("/v1/whoami", { ...me, role: "viewer" }));
  const { unmount } = open("/fleets/edge/promote");
  expect(await screen.findByText("You may look at this fleet, and not write to others")).toBeTruthy();
  unmount();
  server.use(get("/v1/whoami", { ...me, fleet: "edge" }));
  open("/fleets/edge/promote");
  expect(await screen.findByText("This token is bound to one fleet")).toBeTruthy();
});

const plan: Plan = {
  revision: 8, counts: { create: 1, update: 0, delete: 0, unchanged: 1 }, limits: [], confirm: [], token: "plan-1",
  resources: [{ type: "clusters", name: "backend", action: "create", nodes: 3, diff: "+++ clusters/backend\n+name: backend\n" }, { type: "secrets", name: "cert", action: "unchanged" }],
  reach: { nodes: 300, reached: 3, views: [], ids: ["edge-1", "edge-2", "edge-7"] },
};
const written: WriteResult = { revision: 9, changed: 1, committed_at: at, resources: [] };

test("a promotion shows its plan, applies exactly that, and leads to the receipt", async () => {
  const planned: unknown[] = [];
  const applied: unknown[] = [];
  server.use(
    on("post", `${prod}/plan`, async ({ request }) => {
      planned.push(await request.json());
      return HttpResponse.json(plan);
    }),
    on("post", `${prod}/apply`, async ({ request }) => {
      applied.push(await request.json());
      expect(request.headers.get("Idempotency-Key")).toMatch(/^page-[0-9a-f]{32}$/);
      return HttpResponse.json(written);
    }),
  );
  open("/fleets/edge/promote?to=prod");
  await userEvent.click(await screen.findByRole("button", { name: "Show what would change on prod" }));
  expect(await screen.findByText("1 to create, 1 unchanged, compared with revision 8")).toBeTruthy();
  expect(screen.getByText("It reaches 3 of 300 nodes: edge-1, edge-2, edge-7.")).toBeTruthy();
  expect(screen.getByText(/not set: set it in the settings of prod/)).toBeTruthy(); // the value HOST
  const resources = [{ type: "clusters", name: "backend", body: backend.body }, { type: "secrets", name: "cert", keep: true }];
  expect(planned).toEqual([{ resources }]);
  await userEvent.click(screen.getByRole("button", { name: "Publish 1 change on prod" }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/fleets/prod/history/9"));
  expect(applied).toEqual([{ resources, plan: "plan-1", message: "promoted from edge, revision 3" }]);
});

test("what the target would not take is told by the resource's name", async () => {
  server.use(on("post", `${prod}/plan`, () => problem(422, "invalid", "1 field is not acceptable", { errors: [{ pointer: "/resources/1/keep", code: "not_stored", detail: "this fleet has no secrets/cert" }] })));
  open("/fleets/edge/promote?to=prod");
  await userEvent.click(await screen.findByRole("button", { name: "Show what would change on prod" }));
  const alert = await screen.findByRole("alert");
  expect(alert.textContent).toContain("prod would not take it");
  expect(alert.textContent).toContain("secrets/cert /keep");
});

test("what deletes much is confirmed, with the plan's token", async () => {
  const applied: unknown[] = [];
  const asks: Plan = { ...plan, counts: { create: 0, update: 0, delete: 3, unchanged: 0 }, confirm: [{ code: "most_of_type", type: "clusters", count: 3, of: 4, detail: "3 of the fleet's 4 clusters would be deleted" }] };
  server.use(
    get(`${prod}/resources`, { items: ["x", "y", "z"].map((name) => stored({ type: "clusters", name })) }),
    on("post", `${prod}/plan`, () => HttpResponse.json(asks)),
    on("post", `${prod}/apply`, async ({ request }) => {
      applied.push(await request.json());
      if (applied.length === 1) return problem(428, "confirmation_required", "more", { confirm: [{ code: "removes_many", count: 11, detail: "11 resources would be removed" }], token: "plan-2" });
      return HttpResponse.json(written);
    }),
  );
  open("/fleets/edge/promote?to=prod&prune=yes");
  await userEvent.click(await screen.findByRole("button", { name: "Show what would change on prod" }));
  const publish = await screen.findByRole<HTMLButtonElement>("button", { name: "Publish 3 changes on prod" });
  expect(publish.disabled).toBe(true);
  await userEvent.click(screen.getByRole("checkbox", { name: "That is meant" }));
  await userEvent.click(publish);
  expect(await screen.findByText("11 resources would be removed")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "That is meant: publish" }));
  await waitFor(() => expect(applied).toHaveLength(2));
  expect(applied[0]).toMatchObject({ confirm: "plan-1", expected_revision: 8, delete: ["x", "y", "z"].map((name) => ({ type: "clusters", name })) });
  expect(applied[0]).not.toHaveProperty("plan");
  expect(applied[1]).toMatchObject({ confirm: "plan-2" });
});

test("a target that was changed meanwhile is planned anew", async () => {
  server.use(on("post", `${prod}/plan`, () => HttpResponse.json(plan)), on("post", `${prod}/apply`, () => problem(412, "stale", "clusters/backend was changed by somebody")));
  open("/fleets/edge/promote?to=prod");
  await userEvent.click(await screen.findByRole("button", { name: "Show what would change on prod" }));
  await userEvent.click(await screen.findByRole("button", { name: "Publish 1 change on prod" }));
  expect((await screen.findByRole("alert")).textContent).toContain("prod was changed since the plan: nothing is written");
  expect(screen.getAllByRole("button", { name: "Refresh the plan" }).length).toBeGreaterThan(1);
});

test("an export is all of one revision: a fleet that is written meanwhile is read anew", async () => {
  const saved: { name: string; text: Promise<string> }[] = [];
  let looks = 0;
  vi.stubGlobal("URL", Object.assign(URL, {
    createObjectURL: (blob: Blob) => {
      saved.push({ name: "", text: blob.text() });
      return "blob:x";
    },
    revokeObjectURL: () => undefined,
  }));
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
    const last = saved.at(-1);
    if (last) last.name = this.download;
  });
  server.use(
    get(edge, () => ({ ...fleet, revision: looks < 1 ? 3 : 4 })),
    get(`${edge}/resources`, (request) => {
      if (new URL(request.url).searchParams.get("cursor") === "2") return { items: [cert] };
      looks++;
      return { items: [looks < 2 ? { ...backend, name: "old" } : backend], next_cursor: "2" };
    }),
  );
  open("/fleets/edge/export");
  await userEvent.click(await screen.findByRole("button", { name: "Read 2 resources" }));
  await userEvent.click(await screen.findByRole("button", { name: "Save edge.yaml" }));
  await userEvent.click(screen.getByRole("button", { name: "Save edge-secrets.yaml" }));
  expect(saved.map((s) => s.name)).toEqual(["edge.yaml", "edge-secrets.yaml"]);
  const secret = "type: secrets\nname: cert\nkeep: true\n";
  expect(await saved[0]?.text).toBe(`type: clusters\nname: backend\nbody:\n  name: backend\n  host: "\${fleet.values.HOST}"\n---\n${secret}`);
  expect(await saved[1]?.text).toBe(secret);
});
