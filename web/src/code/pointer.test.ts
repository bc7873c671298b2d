import { expect, test } from "vitest";
import { lineOf, pointerOf, rangeOf, stepsOf } from "./pointer";

const yaml = "type: clusters\nbody:\n  name: a\n  list:\n    - {x: 1, y/z: two}\n    - x: 3\n  empty:\n  text: |\n    one\n    two\n";
const json = '{"type": "clusters",\n "body": {"name": "a",\n  "list": [{"x": 1}, {"x": [true]}]}}';

const at = (text: string, pointer: string) => {
  const { from, to } = rangeOf(text, pointer);
  return text.slice(from, to);
};

test("a pointer leads to a value, of a map or a list to its key", () => {
  expect(at(yaml, "/body/name")).toBe("a");
  expect(at(yaml, "/body/list")).toBe("list");
  expect(at(yaml, "/body/list/0/y~1z")).toBe("two");
  expect(at(yaml, "/body/list/1/x")).toBe("3");
  expect(at(yaml, "/body/list/1")).toBe("x");
  expect(at(yaml, "/body/empty")).toBe("empty");
  expect(at(json, "/body/list/1/x/0")).toBe("true");
});

test("the other spelling of a field is found", () => {
  expect(at("connectTimeout: 1s", "/connect_timeout")).toBe("1s");
  expect(at("connect_timeout: 1s", "/connectTimeout")).toBe("1s");
});

test("what is not there is shown at what is around it", () => {
  expect(at(yaml, "/body/missing/deeper")).toBe("body");
  expect(at(yaml, "/body/list/7/x")).toBe("list");
  expect(at(yaml, "")).toBe("type");
  expect(at("", "/a")).toBe("");
});

test("a text of many lines is marked on its first", () => {
  expect(at(yaml, "/body/text")).toBe("|");
});

test("pointers and steps", () => {
  expect(stepsOf("/a~1b/~01/0")).toEqual(["a/b", "~1", "0"]);
  expect(pointerOf(["a/b", "~1", 0])).toBe("/a~1b/~01/0");
  expect(lineOf(yaml, rangeOf(yaml, "/body/list/1/x").from)).toBe(6);
});
