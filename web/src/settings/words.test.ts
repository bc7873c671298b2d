import { expect, test } from "vitest";
import { amount, bytes, daysFrom, fullness, rolesOf, stateOf, stateWord } from "./words";

test("nobody makes a token of a higher role than their own", () => {
  expect(rolesOf({ kind: "tenant", id: "t", name: "a", role: "owner" })).toEqual(["viewer", "ci", "editor", "admin", "owner"]);
  expect(rolesOf({ kind: "operator", id: "t", name: "a" })).toContain("owner");
  expect(rolesOf({ kind: "tenant", id: "t", name: "a", role: "admin" })).toEqual(["viewer", "ci", "editor", "admin"]);
  for (const role of ["editor", "ci", "viewer"] as const) expect(rolesOf({ kind: "tenant", id: "t", name: "a", role })).toEqual([]);
});

test("bytes and amounts are told as people say them", () => {
  expect([0, 1023, 1024, 1536, 67_108_864, 1_073_741_824, 1_600_000_000].map(bytes)).toEqual(["0 B", "1023 B", "1 KiB", "1.5 KiB", "64 MiB", "1 GiB", "1.5 GiB"]);
  expect(amount("resources", 50_000)).toBe("50,000");
  expect(amount("fleet_bytes", 2048)).toBe("2 KiB");
  expect(amount("audit_days", 365)).toBe("365 days");
});

test("a limit is full at its number, never more, and where nothing is counted nothing is told", () => {
  expect(fullness({ limit: 200, used: 50 })).toBe(25);
  expect(fullness({ limit: 200, used: 300 })).toBe(100);
  expect(fullness({ limit: 0, used: 0 })).toBe(0);
  expect(fullness({ limit: 0, used: 1 })).toBe(100);
  expect(fullness({ limit: 200 })).toBeUndefined();
});

test("a token that was revoked is revoked, also when it has expired since", () => {
  const now = Date.parse("2026-11-24T12:00:00Z");
  expect(stateOf({ expires_at: "2026-11-24T12:00:01Z" }, now)).toBe("active");
  expect(stateOf({ expires_at: "2026-11-24T12:00:00Z" }, now)).toBe("expired");
  expect(stateOf({ expires_at: "2026-11-24T12:00:00Z", revoked_at: "2026-11-20T12:00:00Z" }, now)).toBe("revoked");
  expect(daysFrom(now, 90)).toBe("2027-02-22T12:00:00.000Z");
});

test("a word of the address that is no state shows the active ones", () => {
  expect([undefined, "all", "expired", "x"].map(stateWord)).toEqual(["active", "all", "expired", "active"]);
});
