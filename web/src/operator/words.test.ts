import { expect, test } from "vitest";
import type { Limit, Server } from "../api/client";
import { hasFault, limitChanges, wholeNumber } from "./limit-changes";
import { health, isLate, lagWords } from "./server-words";

const limits: Limit[] = [
  { what: "fleets", of: "tenant", limit: 500, default: 100, overridden: true },
  { what: "resources", of: "fleet", limit: 50_000, default: 50_000, overridden: false },
];

test("only limits that are to be others are sent, and null where the default comes back", () => {
  expect(limitChanges(limits, {})).toEqual({});
  expect(limitChanges(limits, { fleets: "500", resources: "" })).toEqual({});
  expect(limitChanges(limits, { fleets: " ", resources: " 60000 " })).toEqual({ fleets: null, resources: 60_000 });
  expect(limitChanges(limits, { fleets: "0", resources: "many" })).toEqual({ fleets: 0 });
});

test("a limit is a whole number that can be told exactly", () => {
  expect(["12", " 7 ", "-1", "1.5", "1e3", "", "9007199254740993"].map(wholeNumber)).toEqual([12, 7, undefined, undefined, undefined, undefined, undefined]);
  expect(hasFault({ fleets: "", resources: "5" })).toBe(false);
  expect(hasFault({ resources: "x" })).toBe(true);
});

const one: Server = { id: "s", name: "a", state: "live", started_at: "2026-11-24T10:00:00Z", seen_at: "2026-11-24T10:00:00Z", streams: 1, lag_ms: 40 };

test("servers are told by what they serve and how far they are behind", () => {
  expect(health([one])).toBe("1 live server, 1 stream; none behind by more than 6.0 s.");
  expect(health([one, { ...one, streams: 20, lag_ms: 9000 }, { ...one, state: "gone", streams: 5 }])).toBe("2 live servers, 21 streams; 1 behind by more than 6.0 s.");
  expect(health([{ ...one, state: "gone" }])).toMatch(/^No server is live/);
  expect([isLate(one), isLate({ ...one, lag_ms: 7000 }), isLate({ state: "gone", lag_ms: 7000 }), isLate({ state: "live" })]).toEqual([false, true, false, false]);
  expect([lagWords(one), lagWords({ state: "gone", lag_ms: 7000 }), lagWords({ state: "live" })]).toEqual(["40 ms", "–", "–"]);
});
