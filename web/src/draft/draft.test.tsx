import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse } from "msw";
import { beforeEach, expect, test } from "vitest";
import type { Plan } from "../api/client";
import { at, fleet, path, plan, revisionPage } from "../history/example";
import { open } from "../test/render";
import { author, get, me, on, problem, server } from "../test/server";
import { clearDraft, putEdit, readDraft, setAsked, type Edit } from "./store";

const text = "name: a\nbody:\n  name: a\n  connect_timeout: 5s\n";
const edit = (more: Partial<Edit> = {}): Edit => ({ action: "write", type: "clusters", name: "a", text, base: "name: a\n", etag: '"7-x"', at, ...more });

let applied: { key: string | null; body: string }[];
let planned: string[];

function play(answer: Plan | (() => Response), apply: (n: number) => Response = () => HttpResponse.json({ revision: 8, changed: 1, committed_at: at, resources: [] })) {
  server.use(
    ...revisionPage(8),
    get(path, fleet(7)),
    on("post", `${path}/plan`, async ({ request }) => {
      planned.push(await request.text());
      return typeof answer === "function" ? answer() : HttpResponse.json(answer);
    }),
    on("post", `${path}/apply`, async ({ request }) => {
      applied.push({ key: request.headers.get("Idempotency-Key"), body: await request.text() });
      return apply(applied.length);
    }),
  );
}

beforeEach(() => {
  clearDraft(author, "edge");
  applied = [];
  planned = [];
});

test("a draft shows what it would do, and is published as it was seen", async () => {
  putEdit(author, "edge", edit());
  play(plan({ findings: { errors: 1, warnings: 0, infos: 0, items: [{ code: "missing_reference", severity: "error", type: "clusters", name: "a", pointer: "/body/name", at: "/resources/0/body/name", detail: "clusters/a names endpoints/a, which does not exist" }] } }));
  open("/fleets/edge/draft");
  expect(await screen.findByText("1 to update, compared with revision 7")).toBeTruthy();
  expect(screen.getByText(/It reaches 3 of 10 nodes/)).toBeTruthy();
  const card = screen.getByRole("region", { name: "clusters/a" });
  expect(within(card).getByRole("link", { name: "line 3" }).getAttribute("href")).toBe("/fleets/edge/resources/clusters/a?line=3");
  expect(within(card).getByText("connect_timeout: 5s", { exact: false })).toBeTruthy();
  expect(JSON.parse(planned[0] ?? "")).toEqual({ resources: [{ type: "clusters", name: "a", etag: '"7-x"', body: { name: "a", connect_timeout: "5s" } }] });
  await userEvent.type(screen.getByLabelText("Message"), "slower");
  await userEvent.click(screen.getByRole("button", { name: "Publish" }));
  expect(await screen.findByRole("heading", { name: "Revision 8" })).toBeTruthy();
  expect(JSON.parse(applied[0]?.body ?? "")).toMatchObject({ message: "slower", plan: "plan-1" });
  expect(applied[0]?.key).toMatch(/^[0-9a-f]{32}$/);
  expect(readDraft(author, "edge").edits).toEqual([]);
});

test("what cannot be read is told at its line, the others are shown, and nothing is published", async () => {
  putEdit(author, "edge", edit({ name: "broken", text: "name: broken\nbody: [" }));
  putEdit(author, "edge", edit());
  play(plan({}));
  open("/fleets/edge/draft");
  const publish = await screen.findByRole("button", { name: "Publish" });
  expect(publish).toHaveProperty("disabled", true);
  expect(within(screen.getByRole("region", { name: "clusters/broken" })).getByRole("link", { name: /^line/ })).toBeTruthy();
  expect(within(screen.getByRole("region", { name: "clusters/a" })).getByText("for 3 nodes")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Drop the edit of clusters/broken" }));
  await waitFor(() => expect(publish).toHaveProperty("disabled", false));
});

test("what was begun as new does not replace unseen what is there", async () => {
  putEdit(author, "edge", { action: "write", type: "clusters", name: "a", text, base: "", at });
  play(plan({}));
  open("/fleets/edge/draft");
  expect(await screen.findByText("There is one of this name already")).toBeTruthy();
});

test("a fault of the API stands at the edit and line that it is about", async () => {
  putEdit(author, "edge", edit());
  play(() => problem(422, "invalid_resource", "no", { errors: [{ code: "unknown_field", detail: "no such field", pointer: "/resources/0/body/connect_timeout" }] }));
  open("/fleets/edge/draft");
  const card = await screen.findByRole("region", { name: "clusters/a" });
  expect((await within(card).findByRole("alert")).textContent).toContain("line 4: no such field");
});

test("what is to be confirmed is confirmed before it is sent", async () => {
  putEdit(author, "edge", edit({ action: "delete", text: "" }));
  play(plan({}), (n) => (n === 1 ? problem(428, "confirmation_required", "sure?", { token: "plan-2", confirm: [{ code: "most_of_type", count: 3, detail: "3 of the fleet's 4 clusters would be deleted" }] }) : HttpResponse.json({ revision: 8, changed: 1, committed_at: at, resources: [] })));
  open("/fleets/edge/draft");
  await userEvent.click(await screen.findByRole("button", { name: "Publish" }));
  const all = await screen.findByRole("button", { name: "Publish all the same" });
  expect(screen.getByText("3 of the fleet's 4 clusters would be deleted")).toBeTruthy();
  expect(all).toHaveProperty("disabled", true);
  await userEvent.click(screen.getByLabelText(/it is meant/));
  await userEvent.click(all);
  expect(await screen.findByRole("heading", { name: "Revision 8" })).toBeTruthy();
  expect(JSON.parse(applied[1]?.body ?? "")).toEqual({ delete: [{ type: "clusters", name: "a" }], confirm: "plan-2" });
  expect(applied[1]?.key).not.toBe(applied[0]?.key);
});

test("a deletion of what others have changed since is published when somebody says that it is meant", async () => {
  putEdit(author, "edge", edit({ action: "delete", text: "" }));
  play(plan({ counts: { create: 0, update: 0, delete: 1, unchanged: 0 }, resources: [{ type: "clusters", name: "a", action: "delete", revision: 9 }] }));
  server.use(get(`${path}/resources/clusters/a`, { type: "clusters", name: "a", version: "v", revision: 9, etag: '"9-y"', created_at: at, updated_at: at, updated_by: "bob", body: { name: "a" } }));
  open("/fleets/edge/draft");
  const card = await screen.findByRole("region", { name: "clusters/a" });
  expect((await within(card).findByRole("alert")).textContent).toMatch(/Changed since you read it, in revision 9 by bob/);
  expect(screen.getByRole("button", { name: "Publish" })).toHaveProperty("disabled", true);
  await userEvent.click(within(card).getByRole("button", { name: "Delete it all the same" }));
  await waitFor(() => expect(screen.getByRole("button", { name: "Publish" })).toHaveProperty("disabled", false));
  expect(readDraft(author, "edge").edits[0]).toMatchObject({ action: "delete", etag: '"9-y"' });
  await userEvent.click(screen.getByRole("button", { name: "Publish" }));
  expect(await screen.findByRole("heading", { name: "Revision 8" })).toBeTruthy();
  expect(JSON.parse(applied[0]?.body ?? "")).toEqual({ delete: [{ type: "clusters", name: "a" }], plan: "plan-1" });
});

test("what is to be deleted and could not be looked up is not deleted unseen", async () => {
  putEdit(author, "edge", edit({ action: "delete", text: "" }));
  play(plan({ counts: { create: 0, update: 0, delete: 1, unchanged: 0 }, resources: [{ type: "clusters", name: "a", action: "delete", revision: 9 }] }));
  server.use(on("get", `${path}/resources/clusters/a`, () => problem(403, "forbidden", "not yours")));
  open("/fleets/edge/draft");
  expect(await screen.findByText(/could not be read: not yours/)).toBeTruthy();
  expect(screen.getByRole("button", { name: "Publish" })).toHaveProperty("disabled", true);
});

test("others were faster: who, and the draft is kept", async () => {
  putEdit(author, "edge", edit());
  play(plan({}), () => problem(412, "precondition_failed", "changed", { errors: [{ code: "changed", detail: "clusters/a was changed", pointer: "/resources/0", last_change: { actor: "bob", revision: 9, at } }] }));
  open("/fleets/edge/draft");
  await userEvent.click(await screen.findByRole("button", { name: "Publish" }));
  const card = screen.getByRole("region", { name: "clusters/a" });
  expect(await within(card).findByText(/by bob/)).toBeTruthy();
  expect(within(card).getByRole("link", { name: "Merge in the editor" })).toBeTruthy();
  expect(readDraft(author, "edge").edits).toHaveLength(1);
  expect(readDraft(author, "edge").asked).toBeUndefined();
  await userEvent.click(within(screen.getByRole("region", { name: "Publish" })).getByRole("button", { name: "Refresh" }));
  await waitFor(() => expect(planned).toHaveLength(2));
});

test("an answer that never came is asked again as the same request", async () => {
  putEdit(author, "edge", edit());
  play(plan({}), (n) => (n === 1 ? HttpResponse.error() : HttpResponse.json({ revision: 8, changed: 1, committed_at: at, resources: [] })));
  open("/fleets/edge/draft");
  await userEvent.click(await screen.findByRole("button", { name: "Publish" }));
  expect(await screen.findByText(/The same request is sent again/)).toBeTruthy();
  expect(readDraft(author, "edge").edits).toHaveLength(1);
  expect(await screen.findByRole("heading", { name: "Revision 8" }, { timeout: 4000 })).toBeTruthy();
  expect(applied[1]).toEqual(applied[0]);
});

test("after a reload the request without an answer is asked again", async () => {
  putEdit(author, "edge", edit());
  setAsked(author, "edge", { key: "k-1", token: "plan-0", confirmed: false, at });
  play(plan({}));
  open("/fleets/edge/draft");
  await userEvent.click(await screen.findByRole("button", { name: "Ask again" }));
  expect(await screen.findByRole("heading", { name: "Revision 8" })).toBeTruthy();
  expect(applied[0]?.key).toBe("k-1");
  expect(JSON.parse(applied[0]?.body ?? "")).toMatchObject({ plan: "plan-0" });
});

test("a viewer looks, and is told why there is no more", async () => {
  putEdit(author, "edge", edit());
  play(plan({}));
  server.use(get("/v1/whoami", { ...me, role: "viewer" }));
  open("/fleets/edge/draft");
  expect(await screen.findByText(/Your role is viewer/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Publish" })).toBeNull();
  expect(planned).toEqual([]);
});

test("an edit that is dropped by a slip is had back, the last one too", async () => {
  putEdit(author, "edge", edit());
  play(plan({}));
  open("/fleets/edge/draft");
  await userEvent.click(await screen.findByRole("button", { name: "Drop the edit of clusters/a" }));
  expect(readDraft(author, "edge").edits).toEqual([]);
  const undo = await screen.findByRole("button", { name: "Undo: bring the edit of clusters/a back" });
  expect(document.activeElement).toBe(undo);
  await userEvent.click(undo);
  expect(readDraft(author, "edge").edits).toEqual([edit()]);
  expect(await screen.findByRole("region", { name: "clusters/a" })).toBeTruthy();
  expect(screen.queryByText(/is dropped/)).toBeNull();
});

test("an empty draft says what to do", async () => {
  play(plan({}));
  open("/fleets/edge/draft");
  expect(await screen.findByRole("link", { name: "Edit a resource" })).toBeTruthy();
});

test("somebody else who has signed in on this browser unseen publishes nothing of it", async () => {
  putEdit(author, "edge", edit());
  play(plan({}));
  open("/fleets/edge/draft");
  const publish = await screen.findByRole("button", { name: "Publish" });
  server.use(get("/v1/whoami", { ...me, id: "t-2", name: "ben" }));
  await userEvent.click(publish);
  expect(await screen.findByText("There are no edits")).toBeTruthy();
  expect(applied).toEqual([]);
  expect(readDraft(author, "edge").edits).toEqual([edit()]);
  expect(readDraft(author, "edge").asked).toBeUndefined();
});
