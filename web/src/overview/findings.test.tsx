import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test } from "vitest";
import type { Finding, FindingList } from "../api/client";
import { router } from "../app/router";
import { aFleet } from "../start/made";
import { open } from "../test/render";
import { get, on, problem, server } from "../test/server";

const fleet = "/v1/tenants/acme/fleets/edge";
const shop: Finding = { code: "missing_reference", severity: "error", type: "routes", name: "shop/a", variant: "eu", pointer: "/body/route/cluster", detail: "it names clusters/nope: write it", nodes: 3 };
let asked: Record<string, string>[];

beforeEach(() => {
  asked = [];
  server.use(
    get(fleet, aFleet("edge")),
    get<FindingList>(`${fleet}/findings`, (request) => {
      const query = Object.fromEntries(new URL(request.url).searchParams);
      asked.push(query);
      const items = query.severity === "info" ? [] : [shop];
      return { revision: 7, errors: 1, warnings: 0, infos: 0, items, ...(query.cursor ? {} : { next_cursor: "c2" }) };
    }),
  );
});

test("each finding says where, what it is and what to do", async () => {
  open("/fleets/edge/findings");
  const row = within(await screen.findByRole("row", { name: /routes\/shop/ }));
  expect(row.getByText("it names clusters/nope: write it (3 nodes)")).toBeTruthy();
  expect(row.getByText("names what does not exist")).toBeTruthy();
  expect(row.getByRole("link", { name: "routes/shop/a (variant eu)" }).getAttribute("href")).toBe("/fleets/edge/resources/routes/shop%2Fa?variant=eu&pointer=%2Fbody%2Froute%2Fcluster");
  expect(screen.getByText("In revision 7: 1 error.")).toBeTruthy();
});

test("a cluster that nobody calls is told beside what is wrong, since when, and leads to the cluster", async () => {
  const idle: Finding = { code: "not_called", severity: "info", type: "clusters", name: "old", pointer: "", detail: "no proxy has sent a request to an endpoint of old since 2026-01-02: delete it" };
  server.use(get<FindingList>(`${fleet}/findings`, { revision: 7, errors: 1, warnings: 0, infos: 1, items: [shop, idle] }));
  open("/fleets/edge/findings");
  const row = within(await screen.findByRole("row", { name: /clusters\/old/ }));
  expect(row.getByText("no proxy has called it for seven days")).toBeTruthy();
  expect(row.getByText(/since 2026-01-02: delete it/)).toBeTruthy();
  expect(row.getByRole("link", { name: "clusters/old" }).getAttribute("href")).toBe("/fleets/edge/resources/clusters/old");
  expect(screen.getByText("In revision 7: 1 error, 1 info.")).toBeTruthy();
});

test("filters stand in the address and go to the server, and begin at the first page", async () => {
  open("/fleets/edge/findings?cursor=c9&type=routes");
  await screen.findByRole("row", { name: /routes\/shop/ });
  expect(asked).toEqual([{ type: "routes", cursor: "c9" }]);
  await userEvent.selectOptions(screen.getByLabelText("What it is"), "names what does not exist");
  await userEvent.type(screen.getByLabelText("Name of the resource"), "shop/a{Enter}");
  await userEvent.click(await screen.findByRole("button", { name: "Next page" }));
  expect(await screen.findByRole("button", { name: "Previous page" })).toBeTruthy();
  expect(router.state.location.search).toEqual({ type: "routes", code: "missing_reference", name: "shop/a", cursor: "c2" });
  expect(asked).toContainEqual({ type: "routes", code: "missing_reference", name: "shop/a" });
});

test("nothing of the kind is told, with the way to all of them", async () => {
  open("/fleets/edge/findings?severity=info");
  expect(await screen.findByText("No finding is like this")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Clear" }));
  expect(await screen.findByRole("row", { name: /routes\/shop/ })).toBeTruthy();
});

test("a fleet without findings is told so", async () => {
  server.use(get<FindingList>(`${fleet}/findings`, { revision: 7, errors: 0, warnings: 0, infos: 0, items: [] }));
  open("/fleets/edge/findings");
  expect(await screen.findByText("Nothing is wrong")).toBeTruthy();
});

test("an error is told", async () => {
  server.use(on("get", `${fleet}/findings`, () => problem(400, "invalid_cursor", "the cursor is of another list")));
  open("/fleets/edge/findings?cursor=x");
  expect((await screen.findByRole("alert")).textContent).toContain("the cursor is of another list");
});
