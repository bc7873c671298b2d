import { expect, test } from "vitest";
import type { ReceiptNode, Resource, Revision } from "../api/client";
import { nextToEnd } from "./certificates";
import { findingTotals } from "./finding";
import { filterOf } from "./findings";
import { health, healthSentence } from "./health";
import { latencySentence } from "./latency";
import { grouped } from "./refusals";
import { changes } from "./timeline";

test("the four numbers of a fleet's health add up to its nodes", () => {
  const nodes = { live: 5, refusing: 2, offline: 1 };
  expect(health(nodes)).toEqual({ "in sync": 5, pending: 0, refusing: 2, offline: 1 });
  expect(health(nodes, { pending: 2 })).toEqual({ "in sync": 3, pending: 2, refusing: 2, offline: 1 });
  // The receipt can be a moment older or newer than the counts.
  expect(health(nodes, { pending: 9 })).toEqual({ "in sync": 0, pending: 5, refusing: 2, offline: 1 });
  expect(healthSentence(health(nodes))).toBe("5 in sync, 2 refusing, 1 offline");
  expect(healthSentence(health({ live: 0, refusing: 0, offline: 0 }))).toBe("no node has connected yet");
});

test("nodes that say the same of one resource are one group, the most first", () => {
  const node = (id: string, name: string, detail: string, state: ReceiptNode["state"] = "nacked"): ReceiptNode => ({ id, state, detail, resource: { type: "listeners", name } });
  const groups = grouped([node("a", "l", "port taken"), node("b", "l", "bad filter"), node("c", "l", "bad filter"), node("d", "other", "bad filter"), node("e", "l", "bad filter", "pending")]);
  expect(groups.map((g) => [g.resource?.name, g.detail, g.nodes])).toEqual([
    ["l", "bad filter", ["b", "c"]],
    ["l", "port taken", ["a"]],
    ["other", "bad filter", ["d"]],
  ]);
});

test("the time to the ACK is told in words, and never one for no ACKs", () => {
  expect(latencySentence([{ revision: 1, first: undefined, last: undefined }])).toMatch(/no time to tell/);
  expect(latencySentence([{ revision: 3, first: 5, last: 12 }, { revision: 4, first: undefined, last: undefined }])).toBe("Revision 3 had its last ACK 12 ms after the commit. 1 had no ACK as it came.");
  const times = [10, 2000, 30].map((last, i) => ({ revision: i + 1, first: 1, last }));
  expect(latencySentence(times)).toBe("Over 3 revisions the last ACK came 30 ms after the commit in the middle, 2.0 s at most (revision 2).");
});

test("the certificate that ends first is found among the secrets", () => {
  const secret = (name: string, not_after?: string): Resource => ({
    type: "secrets", name, revision: 1, version: "v", description: "", labels: {}, created_at: "2026-01-01T00:00:00Z", updated_at: "2026-01-01T00:00:00Z", etag: '"1"',
    secret: { kind: "tls_certificate", ...(not_after ? { not_after } : {}) },
  });
  expect(nextToEnd([secret("none"), secret("late", "2027-05-01T00:00:00Z"), secret("soon", "2026-12-01T00:00:00+01:00")])?.resource.name).toBe("soon");
  expect(nextToEnd([secret("none")])).toBeUndefined();
});

test("an address with words that mean nothing filters nothing", () => {
  expect(filterOf({ severity: "error", type: "routes", code: "unreachable", name: "a" })).toEqual({ severity: "error", type: "routes", code: "unreachable", name: "a" });
  expect(filterOf({ severity: "fatal", type: "things", code: "toString", name: undefined })).toEqual({});
});

test("what a revision changed, and what was found", () => {
  const r: Pick<Revision, "created" | "updated" | "deleted"> = { created: 2, updated: 0, deleted: 1 };
  expect(changes(r)).toBe("2 created, 1 deleted");
  expect(findingTotals({ errors: 1, warnings: 0, infos: 2 })).toBe("1 error, 2 infos");
  expect(findingTotals({ errors: 0, warnings: 0, infos: 0 })).toBe("nothing found");
});
