import { expect, test } from "vitest";
import type { Load } from "../api/client";
import { inParts } from "./queries";
import { byCategory, byLocality, byMetric, hourOf, totalOf } from "./sums";
import { loadSentence, loadWords } from "./words";

const load = (minute: string, more: Partial<Load> = {}): Load => ({ cluster: "a", minute: `2026-01-02T10:${minute}:00Z`, issued: 10, successful: 8, errors: 1, dropped: 2, ...more });
const requests = (issued: number, errors = 0) => ({ issued, successful: issued - errors, errors, in_progress: 0 });

test("minutes are added up, by locality and by category too, what is most first", () => {
  const minutes = [
    load("01", { localities: [requests(3), { locality: { region: "eu", sub_zone: "s" }, ...requests(5, 1) }], drops: [{ category: "", count: 1 }, { category: "overload", count: 1 }] }),
    load("02", { localities: [{ locality: { region: "eu", sub_zone: "s" }, ...requests(4, 2) }, { locality: { region: "us", zone: "z" }, ...requests(4) }], drops: [{ category: "overload", count: 5 }] }),
    load("03"),
  ];
  expect(totalOf(minutes)).toEqual({ issued: 30, successful: 24, errors: 3, dropped: 6 });
  expect(byLocality(minutes)).toEqual([
    { name: "eu//s", issued: 9, successful: 6, errors: 3 },
    { name: "us/z", issued: 4, successful: 4, errors: 0 },
    { name: "", issued: 3, successful: 3, errors: 0 },
  ]);
  expect(byCategory(minutes)).toEqual([{ category: "overload", count: 6 }, { category: "", count: 1 }]);
});

test("a metric is told as the average of what was told", () => {
  const minutes = [load("01", { metrics: [{ name: "queue", count: 2, total: 1 }, { name: "cpu", count: 1, total: 0.5 }] }), load("02", { metrics: [{ name: "queue", count: 2, total: 5 }, { name: "none", count: 0, total: 0 }] })];
  expect(byMetric(minutes)).toEqual([{ name: "cpu", count: 1, average: 0.5 }, { name: "queue", count: 4, average: 1.5 }]);
});

test("an hour has each of its minutes, and ends at the present", () => {
  const hour = hourOf([load("01"), load("03", { issued: 7 })], Date.parse("2026-01-02T10:04:30Z"));
  expect(hour).toHaveLength(60);
  expect(hour.slice(-4).map((m) => [new Date(m.at).toISOString(), m.issued])).toEqual([
    ["2026-01-02T10:01:00.000Z", 10],
    ["2026-01-02T10:02:00.000Z", 0],
    ["2026-01-02T10:03:00.000Z", 7],
    ["2026-01-02T10:04:00.000Z", 0],
  ]);
});

test("where the browser's clock is wrong an hour ends with its newest minute", () => {
  for (const present of ["2026-01-02T09:00:00Z", "2026-01-02T12:00:00Z", "2031-01-01T00:00:00Z"]) {
    expect(hourOf([load("01"), load("03")], Date.parse(present)).at(-1)?.at).toBe(Date.parse("2026-01-02T10:03:00Z"));
  }
});

test("load is told in words", () => {
  expect(loadSentence({ issued: 1200, successful: 1190, errors: 7, dropped: 3 })).toBe("1,200 requests in the last hour: 1,190 successful, 7 errors. 3 requests more were dropped.");
  expect(loadSentence({ issued: 1, successful: 0, errors: 1, dropped: 1 })).toBe("1 request in the last hour: 0 successful, 1 error. 1 request more was dropped.");
  expect(loadSentence({ issued: 2, successful: 2, errors: 0, dropped: 0 })).toBe("2 requests in the last hour: 2 successful, 0 errors.");
  expect(loadWords({ issued: 1200, successful: 1190, errors: 7, dropped: 3 })).toBe("1,200, 7 errors, 3 dropped");
  expect(loadWords({ issued: 0, successful: 0, errors: 0, dropped: 0 })).toBe("0");
});

test("names go in parts that fit into an address", () => {
  expect(inParts([])).toEqual([]);
  expect(inParts(["a", "b", "c"])).toEqual([["a", "b", "c"]]);
  const long = "é".repeat(256);
  expect(inParts(["a", long, long, long, long, "b"]).map((p) => p.length)).toEqual([4, 2]);
  expect(inParts([long, "b"], 10).map((p) => p.length)).toEqual([1, 1]); // one alone goes, whatever it takes
});
