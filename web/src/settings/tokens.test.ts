import { expect, test } from "vitest";
import type { Token } from "../api/client";
import { writers } from "./guard";
import { tokenBody } from "./token-new";
import { endWith, madeWords } from "./token-revoke";

const now = Date.parse("2026-11-24T12:00:00Z");
const form = { name: " deploy ", role: "ci", fleet: "edge", days: "", secrets: true, uses: "", handedOver: false } as const;

test("a token is asked for as the contract takes it", () => {
  expect(tokenBody(form, now)).toEqual({ name: "deploy", role: "ci", fleet: "edge", writes_secrets: true });
  expect(tokenBody({ ...form, role: "editor", fleet: " " }, now)).toEqual({ name: "deploy", role: "editor" });
  expect(tokenBody({ ...form, secrets: false, days: "90", handedOver: true }, now)).toEqual({ name: "deploy", role: "ci", fleet: "edge", handed_over: true, expires_at: "2027-02-22T11:59:00.000Z" });
  expect(tokenBody({ ...form, role: "editor", fleet: "", uses: " api-key,, team=shop " }, now)).toEqual({ name: "deploy", role: "editor", uses_secrets: ["api-key", "team=shop"] });
  expect(tokenBody({ ...form, role: "admin", fleet: "", uses: "api-key" }, now)).toEqual({ name: "deploy", role: "admin" });
});

const token = (id: string, ends_with?: string, more: Partial<Token> = {}): Token => ({
  id, name: `name of ${id}`, role: "admin", created_at: "2026-11-24T12:00:00Z", made_by: { kind: "token", name: "x" }, ...(ends_with === undefined ? {} : { ends_with }), ...more,
});

test("what ends with a token is told, also what ends through another", () => {
  const a = token("a");
  const among = [token("c", "b"), token("b", "a"), a, token("d"), token("e", "a", { revoked_at: "2026-11-24T12:00:00Z" })];
  expect(endWith(a, among)).toEqual(["name of b", "name of c"]);
  expect(endWith(token("d"), among)).toEqual([]);
});

test("what a token made that stays is counted", () => {
  const made = { token_count: 3, staying_token_count: 1, tokens: [], credential_count: 2, credentials: [] };
  expect(madeWords(made)).toBe("It made 1 token and 2 node credentials that stay.");
  expect(madeWords({ ...made, staying_token_count: 0, credential_count: 0 })).toBe("It made nothing that stays.");
  const credential = { id: "c-1", nodes: "*", description: "", created_at: "2026-11-24T12:00:00Z" };
  expect(madeWords({ ...made, staying_token_count: 0, credential_count: 1, credentials: [{ fleet: "edge", credential }] })).toBe("It made 1 node credential that stays, for edge.");
});

test("who may write what a rule names", () => {
  expect(writers([])).toBe("nobody");
  expect(writers(["owner"])).toBe("owner alone");
  expect(writers(["admin", "owner"])).toBe("admin and above");
  expect(writers(["ci", "editor", "admin", "owner"])).toBe("ci and above");
});
