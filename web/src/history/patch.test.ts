import { expect, test } from "vitest";
import { parsePatch } from "./patch";

test("lines have their numbers on both sides", () => {
  const lines = parsePatch("--- clusters/a (revision 1)\n+++ clusters/a (planned)\n@@ -3,2 +3,3 @@\n same\n--- a\n+++ b\n+c\n@@ -20 +21 @@\n end\n");
  expect(lines).toEqual([
    { kind: "same", text: "same", before: 3, after: 3 },
    { kind: "del", text: "-- a", before: 4 },
    { kind: "add", text: "++ b", after: 4 },
    { kind: "add", text: "c", after: 5 },
    { kind: "gap", text: "" },
    { kind: "same", text: "end", before: 20, after: 21 },
  ]);
});
