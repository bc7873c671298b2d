import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse } from "msw";
import { expect, test } from "vitest";
import { aFleet } from "../start/made";
import { open } from "../test/render";
import { author, get, me, on, problem, server } from "../test/server";
import { clearDraft, putEdit } from "../draft/store";
import { tellSignedIn } from "./signed-in";

test("without a session one signs in, and stays where one was", async () => {
  let signed = false;
  server.use(
    on("get", "/v1/whoami", () => (signed ? HttpResponse.json(me) : problem(401, "unauthenticated", "sign in"))),
    on("post", "/v1/session", async ({ request }) => {
      expect(await request.json()).toEqual({ token: "fla_x" });
      expect(request.headers.get("X-Fairlead-Request")).toBe("1");
      signed = true;
      return new HttpResponse(null, { status: 204 });
    }),
    get("/v1/tenants/acme/tokens", { items: [] }),
    get("/v1/tenants/acme/sessions", { items: [] }),
    get("/v1/tenants/acme/usage", { items: [], fleets: [] }),
  );
  open("/settings");
  await userEvent.type(await screen.findByLabelText(/API token/), " fla_x ");
  await userEvent.click(screen.getByRole("button", { name: "Sign in" }));
  expect(await screen.findByRole("heading", { level: 1, name: "Settings" })).toBeTruthy();
});

test("a page that is opened while the server is away says so, and comes by itself", async () => {
  let away = true;
  server.use(
    on("get", "/v1/whoami", () => (away ? problem(503, "unavailable", "no database") : HttpResponse.json(me))),
    get("/v1/tenants/acme/tokens", { items: [] }),
    get("/v1/tenants/acme/sessions", { items: [] }),
    get("/v1/tenants/acme/usage", { items: [], fleets: [] }),
  );
  open("/settings");
  expect(await screen.findByText(/asks again every few seconds/)).toBeTruthy();
  away = false;
  expect(await screen.findByRole("heading", { level: 1, name: "Settings" })).toBeTruthy();
});

test("a sign-out that gets no answer says so, and one is signed in still", async () => {
  server.use(
    on("delete", "/v1/session", () => HttpResponse.error()),
    get("/v1/tenants/acme/tokens", { items: [] }),
    get("/v1/tenants/acme/sessions", { items: [] }),
    get("/v1/tenants/acme/usage", { items: [], fleets: [] }),
  );
  open("/settings");
  const nav = await screen.findByRole("navigation", { name: "All of the tenant", hidden: true });
  await userEvent.click(within(nav).getByRole("button", { name: "Sign out", hidden: true }));
  expect(await screen.findByText("The server does not answer. You are still signed in.")).toBeTruthy();
  expect(screen.getByRole("heading", { level: 1, name: "Settings" })).toBeTruthy();
});

test("a tab without a session goes on when another one has signed in", async () => {
  let signed = false;
  server.use(
    on("get", "/v1/whoami", () => (signed ? HttpResponse.json(me) : problem(401, "unauthenticated", "sign in"))),
    get("/v1/tenants/acme/tokens", { items: [] }),
    get("/v1/tenants/acme/sessions", { items: [] }),
    get("/v1/tenants/acme/usage", { items: [], fleets: [] }),
  );
  open("/settings");
  await screen.findByLabelText(/API token/);
  signed = true;
  tellSignedIn();
  expect(await screen.findByRole("heading", { level: 1, name: "Settings" })).toBeTruthy();
});

const edit = { action: "write", type: "clusters", name: "typed-by-tester", text: "name: typed-by-tester", base: "", at: "2026-01-01T00:00:00Z" } as const;

test("a draft is shown to its author alone: somebody else who signs in in another tab has an own one, at once", async () => {
  putEdit(author, "edge", edit);
  let signed = me;
  server.use(
    get("/v1/whoami", () => signed),
    get("/v1/tenants/acme/fleets/edge", aFleet("edge")),
    on("post", "/v1/tenants/acme/fleets/edge/plan", () => problem(503, "unavailable", "no plan")),
  );
  open("/fleets/edge/draft");
  expect(await screen.findByText(/typed-by-tester/)).toBeTruthy();
  signed = { ...me, id: "t-2", name: "ben" };
  tellSignedIn();
  expect(await screen.findByText("There are no edits")).toBeTruthy();
  expect(screen.queryByText(/typed-by-tester/)).toBeNull();
  expect(screen.getByText("ben")).toBeTruthy();
  signed = me;
  tellSignedIn();
  expect(await screen.findByText(/typed-by-tester/)).toBeTruthy();
  clearDraft(author, "edge");
});
