import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse } from "msw";
import { beforeEach, expect, test } from "vitest";
import type { SessionList, TokenCreated, TokenList, Usage } from "../api/client";
import { open } from "../test/render";
import { get, me, on, problem, server } from "../test/server";

const tokens: TokenList = {
  items: [
    { id: "t-2", name: "pipeline", role: "ci", fleet: "edge", created_at: "2026-11-20T10:00:00Z", expires_at: "2100-01-01T00:00:00Z", made_by: { kind: "token", name: "tester" }, ends_with: "t-1" },
    { id: "t-1", name: "tester", role: "owner", created_at: "2026-11-20T10:00:00Z", expires_at: "2100-01-01T00:00:00Z", made_by: { kind: "operator", name: "op" } },
  ],
  next_cursor: "older-1",
};
const session = { token: { id: "t-1", name: "tester", role: "owner" as const }, created_at: "2026-11-24T10:00:00Z", last_seen_at: "2026-11-24T10:10:00Z", idle_at: "2100-01-01T00:00:00Z", expires_at: "2100-01-01T08:00:00Z" };
const sessions: SessionList = { items: [{ id: "s-1", current: true, ...session }, { id: "s-2", current: false, address: "10.0.0.9", user_agent: "<i>Firefox</i>", ...session }] };
const usage: Usage = { items: [{ what: "fleets", of: "tenant", limit: 100, default: 50, overridden: true, used: 100 }], fleets: [{ fleet: "edge", resources: 4, fleet_bytes: 2048, history_bytes: 4096, credentials: 1 }] };

beforeEach(() => {
  server.use(
    get("/v1/whoami", { ...me, session: { id: "s-1", expires_at: session.expires_at, idle_at: session.idle_at } }),
    get("/v1/tenants/acme/tokens", tokens),
    get("/v1/tenants/acme/sessions", sessions),
    get("/v1/tenants/acme/usage", usage),
    get("/v1/tenants/acme/fleets", { items: [] }),
  );
});

test("tokens, sessions and limits are shown, one's own are marked", async () => {
  open("/settings");
  const own = (await screen.findByText("yours")).closest("tr");
  expect(own?.textContent).toContain("tester");
  expect((await screen.findByText("this one")).closest("tr")?.textContent).toContain("Sign out");
  expect(screen.getByText("<i>Firefox</i>")).toBeTruthy();
  expect(await screen.findByText("100 of 100")).toBeTruthy();
  expect(screen.getByText("at the limit")).toBeTruthy();
  expect(screen.getByText(/set by the operator; 50 elsewhere/)).toBeTruthy();
});

test("state, name and page of the tokens stand in the address and in the question", async () => {
  const asked: string[] = [];
  server.use(
    get("/v1/tenants/acme/tokens", (request) => {
      asked.push(new URL(request.url).search);
      return tokens;
    }),
  );
  open("/settings?tokens=all&name=pi");
  expect(await screen.findByDisplayValue("pi")).toBeTruthy();
  await userEvent.click(await screen.findByRole("button", { name: "Next page" }));
  await waitFor(() => expect(asked).toContain("?limit=25&prefix=pi&cursor=older-1"));
  await userEvent.selectOptions(screen.getByLabelText("State"), "revoked");
  await waitFor(() => expect(asked).toContain("?limit=25&state=revoked&prefix=pi"));
});

test("a pipeline's token needs its fleet, and is shown once", async () => {
  const made: TokenCreated = { api_token: { id: "t-3", name: "deploy", role: "ci", created_at: "2026-11-24T10:00:00Z", made_by: { kind: "token", name: "tester" } }, token: "flc_secret" };
  server.use(
    on("post", "/v1/tenants/acme/tokens", async ({ request }) => {
      expect(await request.json()).toEqual({ name: "deploy", role: "ci", fleet: "edge", handed_over: true });
      return HttpResponse.json(made, { status: 201 });
    }),
  );
  open("/settings");
  await userEvent.click(await screen.findByRole("button", { name: "Make a token" }));
  const form = within(await screen.findByRole("dialog"));
  await userEvent.type(form.getByLabelText("Name"), "deploy");
  await userEvent.selectOptions(form.getByLabelText("Role"), "ci");
  expect(within(form.getByLabelText("Expires after")).queryByText("366 days")).toBeNull();
  expect(form.getByRole("button", { name: "Make it" })).toHaveProperty("disabled", true);
  await userEvent.type(form.getByRole("combobox", { name: "Fleet" }), "edge");
  await userEvent.click(form.getByLabelText("Hand it over"));
  await userEvent.click(form.getByRole("button", { name: "Make it" }));
  expect(await screen.findByText("flc_secret")).toBeTruthy();
});

test("a token is revoked, and handed over, after a question that tells what follows", async () => {
  const done: string[] = [];
  server.use(
    get("/v1/tenants/acme/tokens/t-1/made", { token_count: 1, staying_token_count: 0, tokens: [], credential_count: 2, credentials: [] }),
    on("delete", "/v1/tenants/acme/tokens/:id", ({ params, request }) => {
      done.push(`revoke ${String(params.id)}${new URL(request.url).search}`);
      return new HttpResponse(null, { status: 204 });
    }),
    on("post", "/v1/tenants/acme/tokens/:id/hand-over", ({ params }) => {
      done.push(`hand over ${String(params.id)}`);
      return HttpResponse.json(tokens.items[0]);
    }),
  );
  open("/settings");
  await userEvent.click(await screen.findByRole("button", { name: "Hand over pipeline" }));
  await userEvent.click(await screen.findByRole("button", { name: "Hand it over" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  await userEvent.click(screen.getByRole("button", { name: "Revoke tester" }));
  const question = await screen.findByRole("dialog");
  expect(question.textContent).toContain("such as pipeline");
  expect(question.textContent).toContain("you will be signed out");
  expect(await screen.findByText("It made 2 node credentials that stay.")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Revoke it" }));
  await waitFor(() => expect(done).toEqual(["hand over t-2", "revoke t-1"]));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  await userEvent.click(screen.getByRole("button", { name: "Revoke tester" }));
  await userEvent.click(await screen.findByRole("checkbox", { name: "It has leaked" }));
  await userEvent.click(screen.getByRole("button", { name: "Revoke it" }));
  await waitFor(() => expect(done.at(-1)).toBe("revoke t-1?leaked=true"));
});

test("another session is ended by its id, all others at once, and one's own signs out", async () => {
  const done: string[] = [];
  server.use(
    on("delete", "/v1/tenants/acme/sessions/:id", ({ params }) => {
      done.push(String(params.id));
      return new HttpResponse(null, { status: 204 });
    }),
    on("post", "/v1/session/end-others", () => {
      done.push("others");
      return HttpResponse.json({ ended: 1 });
    }),
    on("delete", "/v1/session", () => {
      done.push("own");
      return new HttpResponse(null, { status: 204 });
    }),
  );
  open("/settings");
  await userEvent.click(await screen.findByRole("button", { name: /End the session of tester, begun from 10.0.0.9/ }));
  await userEvent.click(await screen.findByRole("button", { name: "End it" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  await userEvent.click(screen.getByRole("button", { name: "End my other sessions" }));
  await userEvent.click(await screen.findByRole("button", { name: "End them" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  await userEvent.click(screen.getByRole("button", { name: "Sign out of this session" }));
  await userEvent.click(within(await screen.findByRole("dialog")).getByRole("button", { name: "Sign out" }));
  expect(await screen.findByLabelText(/API token/)).toBeTruthy();
  expect(done).toEqual(["s-2", "others", "own"]);
});

test("a viewer sees no tokens, and is told why; an error is told where it happened", async () => {
  server.use(
    get("/v1/whoami", { ...me, role: "viewer" as const }),
    on("get", "/v1/tenants/acme/tokens", () => {
      throw new Error("asked for tokens");
    }),
    on("get", "/v1/tenants/acme/sessions", () => problem(400, "bad_request", "no such cursor")),
  );
  open("/settings");
  expect(await screen.findByText(/Admins and owners see, make and revoke tokens/)).toBeTruthy();
  expect((await within(screen.getByRole("region", { name: "Sessions" })).findByRole("alert")).textContent).toContain("no such cursor");
  expect(screen.queryByRole("button", { name: "End my other sessions" })).toBeNull();
});
