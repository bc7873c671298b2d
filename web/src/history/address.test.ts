import { expect, test } from "vitest";
import { localTime, timeOf } from "./filters";
import { filterOf, pickedOf } from "./history";
import { revisionOf, yamlOf } from "./queries";

test("an address names a revision, or none", () => {
  expect(["7", "latest", "0"].map(revisionOf)).toEqual([7, "latest", 0]);
  expect([undefined, "", "07", "-1", "7x", "1e3"].map(revisionOf)).toEqual([undefined, undefined, undefined, undefined, undefined, undefined]);
});

test("filters that the API does not know are left out", () => {
  expect(filterOf({ kind: "put", actor: "ann", type: "clusters", name: "a", variant: "eu", pick: "1", cursor: "c" })).toEqual({ kind: "put", actor: "ann", type: "clusters", name: "a", variant: "eu", cursor: "c" });
  expect(filterOf({ kind: "other", type: "cheese", name: "a", variant: "eu" })).toEqual({});
});

test("two are picked at most, the last ones", () => {
  expect(pickedOf("3 9 x 12")).toEqual([9, 12]);
  expect(pickedOf(undefined)).toEqual([]);
});

test("times go to the address and back", () => {
  expect(timeOf(localTime("2026-11-24T14:05:00.000Z"))).toBe("2026-11-24T14:05:00.000Z");
  expect([localTime("rubbish"), timeOf("")]).toEqual(["", ""]);
});

test("a document keeps long numbers", async () => {
  expect(await yamlOf('{"body":{"id":18446744073709551615},"version":"x","name":"a","type":"clusters"}')).toBe("type: clusters\nname: a\nbody:\n  id: 18446744073709551615\n");
});
