import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse } from "msw";
import { beforeEach, expect, test } from "vitest";
import type { Limits, OperatorTokenList, ServerList, SessionList, Tenant, TenantList, TokenCreated } from "../api/client";
import { open } from "../test/render";
import { get, on, problem, server } from "../test/server";

const tenant: Tenant = { id: "x-1", slug: "other", name: "<b>Other</b>", created_at: "2026-11-20T10:00:00Z" };
const tenants: TenantList = { items: [tenant] };
const tokens: OperatorTokenList = { items: [{ id: "o-1", name: "op", created_at: "2026-11-20T10:00:00Z", expires_at: "2100-01-01T00:00:00Z" }] };
const sessions: SessionList = { items: [] };
const servers: ServerList = { items: [{ id: "s-1", name: "xds-a", state: "live", started_at: "2026-11-20T10:00:00Z", seen_at: "2026-11-24T10:00:00Z", version: "0.1.0", streams: 200, fleets: 3, lag_ms: 9000 }] };
const limits: Limits = { items: [{ what: "fleets", of: "tenant", limit: 100, default: 100, overridden: false }] };

beforeEach(() => {
  server.use(
    get("/v1/whoami", { kind: "operator" as const, id: "o-1", name: "op" }),
    get("/v1/tenants", tenants),
    get("/v1/operator/tokens", tokens),
    get("/v1/operator/sessions", sessions),
    get("/v1/operator/servers", servers),
    get("/v1/tenants/other/limits", limits),
  );
});

test("tenants, servers and operator tokens are shown, and a server that is behind is told", async () => {
  open("/operator");
  expect(await screen.findByText("<b>Other</b>")).toBeTruthy();
  const row = (await screen.findByText("xds-a")).closest("tr");
  expect(row?.textContent).toContain("9.0 s, too much");
  expect(screen.getByText("1 live server, 200 streams; 1 behind by more than 6.0 s.")).toBeTruthy();
  expect((await screen.findByText("yours")).closest("tr")?.textContent).toContain("by the command line");
  expect(screen.getByRole("link", { name: "Audit of other" }).getAttribute("href")).toBe("/audit?tenant=other");
});

test("a tenant is created, and then its first token, which is shown once", async () => {
  const made: TokenCreated = { api_token: { id: "t-9", name: "first owner", role: "owner", created_at: "2026-11-24T10:00:00Z", made_by: { kind: "operator", name: "op" } }, token: "fla_secret" };
  server.use(
    on("post", "/v1/tenants", async ({ request }) => {
      expect(await request.json()).toEqual({ slug: "acme-2", name: "Acme" });
      return HttpResponse.json({ ...tenant, slug: "acme-2" }, { status: 201 });
    }),
    on("post", "/v1/tenants/acme-2/tokens", async ({ request }) => {
      expect(await request.json()).toEqual({ name: "first owner", role: "owner" });
      return HttpResponse.json(made, { status: 201 });
    }),
  );
  open("/operator");
  await userEvent.click(await screen.findByRole("button", { name: "Create a tenant" }));
  const form = within(await screen.findByRole("dialog"));
  await userEvent.type(form.getByLabelText("Slug"), "-Acme");
  expect(form.getByText("This cannot be a slug")).toBeTruthy();
  await userEvent.clear(form.getByLabelText("Slug"));
  await userEvent.type(form.getByLabelText("Slug"), "acme-2");
  await userEvent.type(form.getByLabelText("Name"), "Acme");
  await userEvent.click(form.getByRole("button", { name: "Create it" }));
  await userEvent.click(await form.findByRole("button", { name: "Make it" }));
  expect(await form.findByText("fla_secret")).toBeTruthy();
});

test("a limit is set, and what the server says to it is told", async () => {
  const sent: unknown[] = [];
  server.use(
    on("patch", "/v1/tenants/other/limits", async ({ request }) => {
      sent.push(await request.json());
      if (sent.length === 1) return problem(400, "bad_request", "not this many");
      return HttpResponse.json({ items: [{ ...limits.items[0], limit: 7, overridden: true }] });
    }),
  );
  open("/operator");
  await userEvent.click(await screen.findByRole("button", { name: "Limits of other" }));
  const form = within(await screen.findByRole("dialog"));
  await userEvent.type(await form.findByLabelText("Fleets"), "7");
  await userEvent.click(form.getByRole("button", { name: "Save" }));
  expect((await form.findByRole("alert")).textContent).toContain("not this many");
  await userEvent.click(form.getByRole("button", { name: "Save" }));
  expect(await form.findByText("Saved.")).toBeTruthy();
  expect(sent).toEqual([{ fleets: 7 }, { fleets: 7 }]);
  expect(form.getByLabelText("Fleets")).toHaveProperty("value", "7");
});

test("a tenant is deleted after its slug was typed, and a deleted one restored", async () => {
  const done: string[] = [];
  server.use(
    get("/v1/tenants", (request) => (new URL(request.url).searchParams.get("state") === "deleted" ? { items: [{ ...tenant, slug: "gone", deleted_at: "2026-11-23T10:00:00Z" }] } : tenants)),
    on("delete", "/v1/tenants/other", () => {
      done.push("delete");
      return new HttpResponse(null, { status: 204 });
    }),
    on("post", "/v1/tenants/gone/restore", () => {
      done.push("restore");
      return HttpResponse.json(tenant);
    }),
  );
  open("/operator");
  await userEvent.click(await screen.findByRole("button", { name: "Delete other" }));
  await userEvent.type(await screen.findByLabelText("Type other to go on"), "other");
  await userEvent.click(screen.getByRole("button", { name: "Delete it" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  await userEvent.selectOptions(within(screen.getByRole("region", { name: "Tenants" })).getByLabelText("State"), "deleted");
  await userEvent.click(await screen.findByRole("button", { name: "Restore gone" }));
  await userEvent.click(await screen.findByRole("button", { name: "Restore it" }));
  await waitFor(() => expect(done).toEqual(["delete", "restore"]));
});

test("the last operator token is not revoked, and the server's words say why", async () => {
  server.use(on("delete", "/v1/operator/tokens/o-1", () => problem(409, "last_operator_token", "this is the last operator token that is good: make another before you revoke it")));
  open("/operator");
  await userEvent.click(await screen.findByRole("button", { name: /Revoke op/ }));
  await userEvent.click(await screen.findByRole("button", { name: "Revoke it" }));
  expect((await screen.findByRole("alert")).textContent).toContain("make another before you revoke it");
});

test("who is no operator is told so, and nothing is asked", async () => {
  server.resetHandlers();
  open("/operator");
  expect(await screen.findByText("For operators")).toBeTruthy();
});
