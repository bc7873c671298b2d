import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { Load, LoadList } from "../api/client";
import { cluster } from "../code/fixture";
import { clearDraft } from "../draft/store";
import { backend, base, cert, fleet } from "../resources/fixture";
import { open } from "../test/render";
import { author, get, me, on, problem, server } from "../test/server";
import { often, seldom } from "./queries";

// A canvas is nothing that jsdom has.
vi.mock("./load-chart", () => ({ default: ({ label }: { label: string }) => <div role="img" aria-label={label} /> }));

beforeAll(() => Promise.all([import("../code/editor"), import("../resources/resource")])); // they are large, and the first test would wait for them alone

const minute = (ago: number) => new Date((Math.floor(Date.now() / 60_000) - ago) * 60_000).toISOString();
const eu = { locality: { region: "eu", zone: "a" }, issued: 20, successful: 18, errors: 1, in_progress: 1.5 };
const load = (ago: number, more: Partial<Load> = {}): Load => ({ cluster: "backend", minute: minute(ago), issued: 20, successful: 18, errors: 1, dropped: 2, in_progress: 1.5, localities: [eu], drops: [{ category: "overload", count: 2 }], ...more });

const asked: string[] = [];

/** Answers what a resource's page asks. */
function serve(answer: (cursor: string | null) => LoadList) {
  asked.length = 0;
  server.use(
    get(`${base}/load`, (request) => {
      const { search, searchParams } = new URL(request.url);
      asked.push(search);
      return answer(searchParams.get("cursor"));
    }),
  );
}

beforeEach(() => {
  clearDraft(author, "edge");
  server.use(
    get(base, fleet),
    get("/v1/schemas/:type", cluster),
    get(`${base}/resources/clusters/:name`, backend),
    get(`${base}/resources/secrets/:name`, cert),
    get(`${base}/resources/:type`, { items: [backend] }),
    get(`${base}/resources/:type/:name/history`, { items: [] }),
    get(`${base}/findings`, { revision: 7, errors: 0, warnings: 0, infos: 0, items: [] }),
  );
  return () => vi.useRealTimers();
});

const section = () => screen.findByRole("region", { name: "Load" });
const rowsOf = (table: HTMLElement) => within(table).getAllByRole("row").slice(1).map((r) => within(r).getAllByRole("cell").map((c) => c.textContent));

test("the last hour of a cluster, for a viewer too: a chart, its numbers, localities and drops, and what they lack", async () => {
  server.use(get("/v1/whoami", { ...me, role: "viewer" }));
  serve((cursor) =>
    cursor === "two"
      ? { items: [load(1, { issued: 1000, metrics: [{ name: "queue", count: 4, total: 6 }] })], left_out: 3 }
      : { items: [load(3), load(2)], next_cursor: "two", left_out: 3 },
  );
  open("/fleets/edge/resources/clusters/backend");
  const at = await section();
  const chart = await within(at).findByRole("img");
  const words = "1,040 requests in the last hour: 54 successful, 3 errors. 6 requests more were dropped.";
  expect(chart.getAttribute("aria-label")).toBe(`Chart of the requests of the last hour, by minute: issued, errors, dropped. ${words}`);
  expect(within(at).getByText(words)).toBeTruthy();
  expect(asked).toEqual(["?limit=100&cluster=backend", "?limit=100&cluster=backend&cursor=two"]);
  await userEvent.click(within(at).getByText("The numbers"));
  const rows = rowsOf(within(at).getByRole("table", { name: "Load by minute" }));
  expect(rows.map((r) => r.slice(1))).toEqual([["1,000", "18", "1", "2", "1.5"], ["20", "18", "1", "2", "1.5"], ["20", "18", "1", "2", "1.5"]]);
  expect(rowsOf(within(at).getByRole("table", { name: "By locality" }))).toEqual([["eu/a", "60", "54", "3"]]);
  expect(rowsOf(within(at).getByRole("table", { name: "Drops by category" }))).toEqual([["overload", "6"]]);
  expect(rowsOf(within(at).getByRole("table", { name: "Metrics of the backends" }))).toEqual([["queue", "4", "1.5"]]);
  expect(within(at).getByRole("note").textContent).toBe("3 parts of the fleet's reports of the last hour were left out, over the limits. Numbers may be too low.");
});

test("a cluster of which nothing is reported says how proxies report", async () => {
  serve(() => ({ items: [], left_out: 0 }));
  open("/fleets/edge/resources/clusters/backend");
  const at = await section();
  expect((await within(at).findByText(/No proxy has reported/)).textContent).toBe(
    "No proxy has reported requests to this cluster in the last hour. An Envoy reports its load where its bootstrap was made with --load-reports, a gRPC client where the cluster has lrs_server.",
  );
  expect(within(at).getByRole("link", { name: "reports its load" }).getAttribute("href")).toBe("/docs#op-listLoad");
  for (const role of ["img", "table", "note"]) expect(within(at).queryByRole(role)).toBeNull();
});

test("it is asked for again by the clock, and less often where nothing is reported", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  let items: Load[] = [];
  serve(() => ({ items, left_out: 0 }));
  open("/fleets/edge/resources/clusters/backend");
  await within(await section()).findByText(/No proxy has reported/);
  expect(asked).toHaveLength(1);
  await act(() => vi.advanceTimersByTimeAsync(often));
  expect(asked).toHaveLength(1);
  items = [load(0)];
  await act(() => vi.advanceTimersByTimeAsync(seldom - often));
  await within(await section()).findByText(/^20 requests/);
  items = [load(0, { issued: 30 })];
  await act(() => vi.advanceTimersByTimeAsync(often));
  await within(await section()).findByText(/^30 requests/);
  expect(asked).toHaveLength(3);
});

test("what cannot be read is told in its place, and of other types nothing is asked", async () => {
  server.use(on("get", `${base}/load`, () => problem(500, "internal", "load cannot be told")));
  const { unmount } = open("/fleets/edge/resources/clusters/backend");
  expect((await within(await section()).findByRole("alert")).textContent).toContain("load cannot be told");
  unmount();
  serve(() => ({ items: [load(1)], left_out: 0 }));
  open("/fleets/edge/resources/secrets/cert");
  await screen.findByRole("region", { name: "History" });
  await waitFor(() => expect(screen.queryByRole("region", { name: "Load" })).toBeNull());
  expect(asked).toEqual([]);
});
