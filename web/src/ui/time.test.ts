import { expect, test } from "vitest";
import { relative } from "./time";

const hour = 3600;
const day = 24 * hour;

// Whole units, as the server counts the days of a certificate: the same time is not told in two ways on one card.
test.each([
  [4 * day + 20 * hour, "in 4 days"],
  [5 * day - 1, "in 4 days"],
  [5 * day, "in 5 days"],
  [47 * hour, "in 1 day"],
  [day - 1, "in 23 h"],
  [119 * 60, "in 1 h"],
  [89.9, "in 89 s"],
  [4, "now"],
  [-(2 * day + 23 * hour), "2 days ago"],
])("%d s are told as %s", (seconds, words) => {
  expect(relative(new Date(seconds * 1000).toISOString(), 0)).toBe(words);
});
