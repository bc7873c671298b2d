import { expect, test } from "vitest";
import { exportAddress } from "./queries";
import { attempts, changedResources, deed, detailWords, fieldTime, isoTime } from "./words";

const resource = { type: "clusters", name: "backend" } as const;

test("each kind of event is told, of one node and of several", () => {
  expect(deed({ kind: "refused", resource })).toBe("refused");
  expect(deed({ kind: "refused" })).toBe("refused something");
  expect(deed({ kind: "kept_back", resource })).toBe("is kept from the fleet's version of");
  expect(deed({ kind: "kept_back", resource, nodes: 3 })).toBe("are kept from the fleet's version of");
  expect(deed({ kind: "recovered", resource, nodes: 1 })).toBe("no longer refuses");
  expect(deed({ kind: "denied", nodes: 2 })).toBe("were not let in");
  expect(deed({ kind: "denied", reason: "token_revoked" })).toBe("was not let in");
  expect(deed({ kind: "denied", reason: "type_not_served" })).toBe("asks for what it does not get");
  expect(deed({ kind: "denied", reason: "names_over_limit", nodes: 2 })).toBe("ask for what they do not get");
  expect(deed({ kind: "withheld", reason: "withheld_missing" })).toBe("is kept from a resource");
  expect(deed({ kind: "duplicates" })).toBe("is the id of several clients");
  expect(attempts({ attempts: 1 })).toBeUndefined();
  expect(attempts({ attempts: 12 })).toBe("12 times");
});

test("the resources of an audit event are read, and what is of another shape is left out", () => {
  expect(changedResources({ resources: [["put", "clusters", "backend", "eu"], ["delete", "routes", "r"], "x", [1, 2], ["put"]] })).toEqual([
    { verb: "put", type: "clusters", name: "backend", variant: "eu" },
    { verb: "delete", type: "routes", name: "r", variant: "" },
  ]);
  expect(changedResources(undefined)).toEqual([]);
  expect(changedResources({ resources: "no" })).toEqual([]);
  expect(detailWords({ name: "x", changed: 6, resources: [] })).toEqual([["name", "x"], ["changed", "6"]]);
});

test("a time goes to the field and back; what is none is none", () => {
  expect(isoTime(fieldTime("2026-11-24T10:30:00.000Z"))).toBe("2026-11-24T10:30:00.000Z");
  expect([fieldTime(undefined), fieldTime("soon"), isoTime(""), isoTime("soon")]).toEqual(["", "", undefined, undefined]);
});

test("the export is what the filters take", () => {
  expect(exportAddress("a b", { kind: "token.create", actor: "x&y" })).toBe("/v1/tenants/a%20b/audit?format=jsonl&kind=token.create&actor=x%26y");
});
