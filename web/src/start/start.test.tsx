import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse } from "msw";
import { beforeEach, expect, test, vi } from "vitest";
import type { FindingList, Whoami } from "../api/client";
import { router } from "../app/router";
import { open } from "../test/render";
import { get, me, on, problem, server } from "../test/server";
import { aFleet, fleetList, newFleet } from "./made";

const fleets = "/v1/tenants/acme/fleets";
const none: FindingList = { revision: 7, errors: 0, warnings: 0, infos: 0, items: [] };

// All that is shown is seen.
class Seen {
  constructor(private readonly tell: (entries: { isIntersecting: boolean }[]) => void) {}
  observe() {
    this.tell([{ isIntersecting: true }]);
  }
  disconnect() {}
}

beforeEach(() => {
  vi.stubGlobal("IntersectionObserver", Seen);
  return () => vi.unstubAllGlobals();
});

const as = (more: Partial<Whoami>) => server.use(get<Whoami>("/v1/whoami", { ...me, ...more }));
const card = async (name: string) =>
  within(
    await waitFor(() => {
      const found = screen.getAllByRole("link", { name }).map((link) => link.closest("li")).find((card) => card !== null);
      if (!found) throw new Error(`${name} has no card`);
      return found;
    }),
  );

test("each fleet is a card with its name as a link, its health, its receipt and its findings", async () => {
  server.use(
    get(fleets, fleetList(aFleet("edge", {}, "pending"), newFleet("fresh"))),
    get(`${fleets}/edge/revisions/latest/receipt`, { revision: 7, state: "pending", counts: { acked: 1, nacked: 1, pending: 2, offline: 0, left: 0, withheld: 0, unaffected: 0, late: 0 }, nodes: [], committed_at: "2026-01-02T00:00:00Z" }),
    get<FindingList>(`${fleets}/edge/findings`, { ...none, errors: 2, warnings: 1 }),
  );
  open("/");
  const edge = await card("edge");
  expect(await edge.findByRole("img", { name: "1 in sync, 2 pending, 1 refusing" })).toBeTruthy();
  expect(edge.getByText("1 node refuses something", { selector: ".mantine-Badge-label" })).toBeTruthy();
  expect((await edge.findByRole("link", { name: "2 errors, 1 warning found" })).getAttribute("href")).toBe("/fleets/edge/findings");
  expect(screen.getByRole("link", { name: "edge" }).getAttribute("href")).toBe("/fleets/edge");
  const fresh = await card("fresh");
  expect(fresh.getByRole("link", { name: "Connect a node" }).getAttribute("href")).toBe("/fleets/fresh/connect");
});

test("the filter stands in the address, and so does the page", async () => {
  server.use(
    get(fleets, (request) => {
      const query = new URL(request.url).searchParams;
      if (query.get("cursor") === "c2") return fleetList(newFleet("edge-z"));
      return query.get("prefix") === "edge" ? { ...fleetList(newFleet("edge-a")), next_cursor: "c2" } : fleetList(newFleet("core"));
    }),
  );
  open("/");
  await screen.findByRole("link", { name: "core" });
  await userEvent.type(screen.getByLabelText("Only fleets whose name begins with"), "edge");
  await screen.findByRole("link", { name: "edge-a" });
  expect(router.state.location.searchStr).toBe("?prefix=edge");
  await userEvent.click(screen.getByRole("button", { name: "Next page" }));
  await screen.findByRole("link", { name: "edge-z" });
  expect(router.state.location.search).toEqual({ prefix: "edge", cursor: "c2" });
});

test("an empty tenant is led from its first fleet to its first node", async () => {
  const asked: unknown[] = [];
  server.use(
    get(fleets, fleetList()),
    on("post", fleets, async ({ request }) => {
      asked.push(await request.json());
      return HttpResponse.json(newFleet("shop"), { status: 201 });
    }),
    get(`${fleets}/shop`, newFleet("shop")),
    get(`${fleets}/shop/nodes`, { items: [] }),
    get(`${fleets}/shop/events`, { items: [], position: "p" }),
    get(`${fleets}/shop/bootstrap`, { files: [], notes: [] }),
  );
  open("/");
  const name = await screen.findByLabelText("Name");
  await userEvent.clear(name);
  await userEvent.type(name, "Shop");
  expect(screen.getByText("Lower-case letters, digits and inner hyphens")).toBeTruthy();
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Create fleet" }).disabled).toBe(true);
  await userEvent.clear(name);
  await userEvent.type(name, "shop");
  await userEvent.click(screen.getByRole("button", { name: "Create fleet" }));
  expect(await screen.findByRole("heading", { level: 1, name: "Connect a node" })).toBeTruthy();
  expect(asked).toEqual([{ name: "shop" }]);
});

test("a name that is taken is told, and what was typed stays", async () => {
  server.use(get(fleets, fleetList()), on("post", fleets, () => problem(409, "already_exists", "there is a fleet edge already")));
  open("/");
  await userEvent.click(await screen.findByRole("button", { name: "Create fleet" }));
  expect((await screen.findByRole("alert")).textContent).toContain("there is a fleet edge already");
  expect(screen.getByLabelText<HTMLInputElement>("Name").value).toBe("edge");
});

test("who may not create a fleet is told who may", async () => {
  as({ role: "editor" });
  server.use(get(fleets, fleetList()));
  open("/");
  expect(await screen.findByText(/An admin or an owner of the tenant acme creates the first one/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Create fleet" })).toBeNull();
});

test("a token that is bound to one fleet is told so", async () => {
  as({ fleet: "edge" });
  server.use(get(fleets, fleetList(newFleet("edge"))));
  open("/");
  await screen.findByRole("link", { name: "edge" });
  expect(screen.getByText("Your token is bound to one fleet of acme: edge")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "New fleet" })).toBeNull();
  expect(screen.queryByRole("link", { name: "Deleted fleets" })).toBeNull();
});

test("an operator has no fleets, and is shown the way", async () => {
  server.use(get<Whoami>("/v1/whoami", { kind: "operator", id: "t-1", name: "root" }));
  open("/");
  expect((await screen.findByRole("link", { name: "the tenants and the servers" })).getAttribute("href")).toBe("/operator");
});

test("what fails is told, with a way to ask again", async () => {
  let broken = true;
  server.use(on("get", fleets, () => (broken ? problem(500, "internal", "the database is full") : HttpResponse.json(fleetList(newFleet("edge"))))));
  open("/");
  expect((await screen.findByRole("alert")).textContent).toContain("the database is full");
  broken = false;
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  await screen.findByRole("link", { name: "edge" });
  await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
});

test("a deleted fleet is taken back by its id", async () => {
  const asked: string[] = [];
  server.use(
    get(fleets, (request) => {
      expect(new URL(request.url).searchParams.get("state")).toBe("deleted");
      return fleetList({ ...newFleet("gone"), deleted_at: "2026-01-03T00:00:00Z" });
    }),
    on("post", `${fleets}/gone/restore`, ({ request }) => {
      asked.push(new URL(request.url).search);
      return asked.length === 1 ? problem(409, "already_exists", "another fleet has the name") : HttpResponse.json(newFleet("gone"));
    }),
  );
  open("/?state=deleted");
  await userEvent.click(await screen.findByRole("button", { name: "Restore gone" }));
  expect((await screen.findByRole("alert")).textContent).toContain("another fleet has the name");
  await userEvent.click(screen.getByRole("button", { name: "Restore gone" }));
  expect((await screen.findByRole("link", { name: "gone" })).getAttribute("href")).toBe("/fleets/gone");
  expect(asked).toEqual(["?id=id-gone", "?id=id-gone"]);
});
