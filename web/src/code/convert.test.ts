import { expect, test } from "vitest";
import { hasComments, toJson, toYaml, Unreadable, yamlOf } from "./convert";

test("whole numbers of 64 bits keep their digits both ways", () => {
  const yaml = "a: 9223372036854775807\nb: 18446744073709551615\nc: -9223372036854775808\nd: 1.10\n";
  const json = toJson(yaml);
  expect(json).toBe('{\n  "a": 9223372036854775807,\n  "b": 18446744073709551615,\n  "c": -9223372036854775808,\n  "d": 1.10\n}');
  expect(toYaml(json)).toContain("a: 9223372036854775807\nb: 18446744073709551615\n");
});

test("texts that look like something else stay texts", () => {
  const texts = ["1", "1.0", "true", "yes", "on", "no", "null", "~", "", " a", "0x1f", "0o7", "0755", "1_000", "1:30", "2024-01-01", "- a", "# b", "a: b", "{a}", "@type", "a\nb\n", "${fleet.values.X}", "é\u0000"];
  const json = JSON.stringify({ texts });
  const back: unknown = JSON.parse(toJson(toYaml(json)));
  expect(back).toEqual({ texts });
  // An older reader of YAML would take these for true, false or numbers.
  const yaml = toYaml(json);
  for (const t of ["yes", "on", "no", "1_000", "1:30", "0755"]) expect(yaml).toContain(`- "${t}"\n`);
});

test("what is empty, nested and repeated is the same in JSON", () => {
  expect(toJson("a: &x {b: [1, {}, []]}\nc: *x\nd:\n", 0)).toBe('{"a":{"b":[1,{},[]]},"c":{"b":[1,{},[]]},"d":null}');
});

test("what cannot be read is said, and not guessed", () => {
  expect(() => toJson("a: [1")).toThrow(Unreadable);
  expect(() => toYaml('{"a": 1, "a": 2}')).toThrow(/unique/);
});

test("a text that repeats itself without end is refused", () => {
  const bomb = ["a0: &a0 [x]", ...Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(",")}]`)].join("\n");
  expect(() => toJson(bomb)).toThrow(/repeats/);
});

test("comments are told of, and stay in YAML", () => {
  expect(hasComments("a: 1 # why\n")).toBe(true);
  expect(hasComments("# top\na: 1\n")).toBe(true);
  expect(hasComments("a: '# no'\n")).toBe(false);
  expect(toYaml("# top\na: {b: 1} # why\n")).toContain("# top");
});

test("values as YAML read like what fairlead get writes", () => {
  expect(yamlOf({ type: "clusters", body: { name: "a", list: [{ b: 1 }], none: {} } })).toBe("type: clusters\nbody:\n  name: a\n  list:\n    - b: 1\n  none: {}\n");
});
