import { EditorView } from "@codemirror/view";
import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse } from "msw";
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { Finding, LoadList, Plan, Resource } from "../api/client";
import { cluster } from "../code/fixture";
import { router } from "../app/router";
import { clearDraft, editOf, putEdit, readDraft } from "../draft/store";
import { open } from "../test/render";
import { author, get, me, on, problem, server } from "../test/server";
import { documentOf } from "./document";
import { backend, base, cert, fleet } from "./fixture";

const address = "/fleets/edge/resources/clusters/backend";
const plan = (more: Partial<Plan> = {}): Plan => ({ revision: 7, counts: { create: 0, update: 1, delete: 0, unchanged: 0 }, resources: [{ type: "clusters", name: "backend", action: "update" }], limits: [], confirm: [], token: "t", reach: { nodes: 4, reached: 3, views: [], ids: [] }, ...more });

let findings: Finding[] = [];
let stored: Resource | null = backend;
let planned: string[] = [];

beforeAll(() => Promise.all([import("../code/editor"), import("./resource")])); // they are large, and the first test would wait for them alone

beforeEach(() => {
  findings = [];
  stored = backend;
  planned = [];
  clearDraft(author, "edge");
  server.use(
    get(base, fleet),
    get("/v1/schemas/:type", cluster),
    on("get", `${base}/resources/:type/:name`, () => (stored ? HttpResponse.json(stored) : problem(404, "not_found", "no such resource"))),
    get(`${base}/resources/:type`, () => ({ items: stored ? [stored] : [] })),
    get(`${base}/resources/:type/:name/history`, { items: [{ revision: 7, action: "update", at: "2026-01-02T00:00:00Z", actor: "ana", message: "slower" }] }),
    get<LoadList>(`${base}/load`, { items: [], left_out: 0 }),
    get(`${base}/findings`, () => ({ revision: 7, errors: 0, warnings: 0, infos: 0, items: findings })),
    on("post", `${base}/plan`, async ({ request }) => {
      planned.push(await request.text());
      return HttpResponse.json(plan());
    }),
  );
});

async function editor() {
  const box = await screen.findByRole("textbox", { name: /Document of/ });
  const view = EditorView.findFromDOM(box);
  if (!view) throw new Error("there is no editor");
  return view;
}
async function write(text: string) {
  const view = await editor();
  act(() => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }));
}
const edit = () => editOf(readDraft(author, "edge"), { type: "clusters", name: "backend" });
const slower = documentOf(backend).replace("1s", "5s");
const kept = () => [localStorage, sessionStorage].map((s) => Object.values(s).join()).join();
const marks = async () => within(await screen.findByRole("list", { name: "Faults and findings" })).getAllByRole("listitem").map((l) => l.textContent);

test("a resource: its document, who changed it last, and its history", async () => {
  open(address);
  expect((await editor()).state.doc.toString()).toBe(documentOf(backend));
  expect(screen.getByRole("heading", { level: 1, name: "backend" })).toBeTruthy();
  const table = await screen.findByRole("table", { name: "History of this resource" });
  expect(within(table).getByRole("link", { name: "Revision 7" }).getAttribute("href")).toBe("/fleets/edge/history/7");
  expect(within(table).getByText("slower")).toBeTruthy();
  expect(screen.queryByRole("link", { name: "Review and publish" })).toBeNull();
});

test("what is typed is in the draft at once, with what it began with; typed back it is out again", async () => {
  open(address);
  await write(slower);
  expect(edit()).toMatchObject({ action: "write", text: slower, base: documentOf(backend), etag: '"7-aaaa"' });
  expect(localStorage.getItem("fairlead.draft/acme/t-1/edge")).toContain("5s");
  expect(await screen.findByRole("link", { name: "Review and publish" })).toBeTruthy();
  await write(documentOf(backend));
  expect(edit()).toBeUndefined();
});

test("when the typing pauses the server is asked once, and says whom it would reach", async () => {
  open(address);
  await write(slower.replace("5s", "4s"));
  await write(`${slower}  big: 18446744073709551615\n`);
  expect(await screen.findByText("The server takes it. It would reach 3 of 4 nodes.", undefined, { timeout: 4000 })).toBeTruthy();
  expect(planned).toHaveLength(1);
  expect(planned[0]).toContain('"big":18446744073709551615');
  expect(JSON.parse(planned[0] ?? "")).toMatchObject({ resources: [{ type: "clusters", name: "backend", body: { connect_timeout: "5s" } }] });
});

test("faults of the schema and of the server stand at their lines", async () => {
  server.use(on("post", `${base}/plan`, () => problem(422, "invalid_resource", "1 field is not acceptable", { errors: [{ code: "wrong_type", detail: "the server's own words", pointer: "/resources/0/body/connect_timeout" }] })));
  open(address);
  await write(`${documentOf(backend)}  lb: 1\n`);
  await waitFor(async () => expect(await marks()).toContain("errorLine 9: Cluster has no field lb."));
  await waitFor(async () => expect(await marks()).toContain("errorLine 8: the server's own words"), { timeout: 4000 });
});

test("the findings of what is stored stand at their lines", async () => {
  findings = [
    { code: "missing_reference", severity: "warning", type: "clusters", name: "backend", pointer: "/body/name", detail: "there are no endpoints" },
    { code: "missing_reference", severity: "error", type: "clusters", name: "backend", variant: "eu", pointer: "/body/name", detail: "of another variant" },
  ];
  open(address);
  expect(await marks()).toEqual(["warningLine 6: there are no endpoints"]);
});

test("a link to a line, or to what a pointer names, leads there", async () => {
  open(`${address}?line=3`);
  const at = async () => (await editor()).state.doc.lineAt((await editor()).state.selection.main.head).number;
  expect(await at()).toBe(3);
  open(`${address}?pointer=/body/connect_timeout`);
  await waitFor(async () => expect(await at()).toBe(8));
});

test("JSON and back; an edit goes along, comments are not lost unasked", async () => {
  open(address);
  await write(`# why\n${slower}`);
  await userEvent.click(await screen.findByRole("radio", { name: "JSON" }));
  expect((await screen.findByRole("alert")).textContent).toContain("JSON has no comments");
  await userEvent.click(screen.getByRole("button", { name: "Convert all the same" }));
  await waitFor(() => expect(edit()?.text).toMatch(/^\{/));
  expect(JSON.parse(edit()?.text ?? "")).toMatchObject({ body: { connect_timeout: "5s" } });
  expect(JSON.parse(edit()?.base ?? "")).toMatchObject({ body: { connect_timeout: "1s" } });
});

test("what another wrote meanwhile is merged with the edit", async () => {
  putEdit(author, "edge", { action: "write", type: "clusters", name: "backend", text: slower, base: documentOf(backend), etag: '"7-aaaa"', at: "2026-01-01T00:00:00Z" });
  stored = { ...backend, etag: '"8-bbbb"', revision: 8, labels: { team: "pay" }, updated_by: "bo" };
  open(address);
  expect((await screen.findByText(/bo wrote it in revision 8/)).textContent).toContain("would be refused");
  await userEvent.click(screen.getByRole("button", { name: "Merge both" }));
  expect(edit()).toMatchObject({ etag: '"8-bbbb"', base: documentOf(stored) });
  expect(edit()?.text).toBe(documentOf(stored).replace("1s", "5s"));
  await waitFor(() => expect(screen.queryByText(/bo wrote it/)).toBeNull());
});

test("a place that both changed is decided by people", async () => {
  putEdit(author, "edge", { action: "write", type: "clusters", name: "backend", text: slower, base: documentOf(backend), etag: '"7-aaaa"', at: "2026-01-01T00:00:00Z" });
  stored = { ...backend, etag: '"8-bbbb"', revision: 8, body: { name: "backend", type: "EDS", connect_timeout: "9s" } };
  open(address);
  await userEvent.click(await screen.findByRole("button", { name: "Merge both" }));
  expect(await screen.findByText("1 place is left that both of you changed")).toBeTruthy();
  expect((await marks())[0]).toContain("Both of you changed this");
  await userEvent.click(screen.getByRole("button", { name: "Take theirs" }));
  expect(edit()).toBeUndefined(); // nothing of mine is left
});

test("an edit stays as it is when the other's is dropped", async () => {
  putEdit(author, "edge", { action: "write", type: "clusters", name: "backend", text: slower, base: documentOf(backend), etag: '"7-aaaa"', at: "2026-01-01T00:00:00Z" });
  stored = { ...backend, etag: '"8-bbbb"', revision: 8, labels: {} };
  open(address);
  await userEvent.click(await screen.findByRole("button", { name: "Keep mine, drop theirs" }));
  expect(edit()).toMatchObject({ text: slower, etag: '"8-bbbb"' });
});

test("an edit of what was deleted is made anew", async () => {
  putEdit(author, "edge", { action: "write", type: "clusters", name: "backend", text: slower, base: documentOf(backend), etag: '"7-aaaa"', at: "2026-01-01T00:00:00Z" });
  stored = null;
  open(address);
  await userEvent.click(await screen.findByRole("button", { name: "Create it again with my edit" }));
  expect(edit()).toMatchObject({ text: slower, base: "" });
  expect(edit()).not.toHaveProperty("etag");
});

test("a deletion goes into the draft, and an edit is not dropped by one slip", async () => {
  open(address);
  await write(slower);
  await userEvent.click(await screen.findByRole("button", { name: "Delete" }));
  expect(edit()).toMatchObject({ action: "write" });
  await userEvent.click(screen.getByRole("button", { name: "Drop the edit and delete?" }));
  expect(edit()).toMatchObject({ action: "delete", etag: '"7-aaaa"' });
  expect(await screen.findByText(/It goes when the draft is published/)).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Do not delete" }));
  expect(edit()).toBeUndefined();
});

test("a variant is made with a preview of its nodes", async () => {
  server.use(get(`${base}/nodes`, (r) => ({ items: [], matches: new URL(r.url).searchParams.get("selector") === "locality.region=eu" ? 12 : 0, labels_unknown: 2 })));
  open(address);
  await userEvent.click(await screen.findByRole("button", { name: "New variant" }));
  await userEvent.type(screen.getByRole("textbox", { name: /Name of the variant/ }), "eu");
  await userEvent.type(screen.getByRole("textbox", { name: /Selector/ }), "locality.region=eu");
  expect(await screen.findByText("12 nodes match. Of 2 the labels are not known.")).toBeTruthy();
  stored = null; // the variant is not there yet
  await userEvent.click(screen.getByRole("button", { name: "Add to the draft" }));
  await waitFor(() => expect(router.state.location.search).toEqual({ variant: "eu" }));
  const made = editOf(readDraft(author, "edge"), { type: "clusters", name: "backend", variant: "eu" });
  expect(made).toMatchObject({ action: "write", base: "" });
  expect(made?.text).toContain("variant: eu\nselector: locality.region=eu\n");
});

test("a selector that cannot be read is told in the server's words", async () => {
  server.use(on("get", `${base}/nodes`, () => problem(400, "invalid_request", "no", { errors: [{ code: "selector_invalid", detail: "selector, byte 9: a value is missing", parameter: "selector" }] })));
  open(address);
  await userEvent.click(await screen.findByRole("button", { name: "New variant" }));
  await userEvent.type(screen.getByRole("textbox", { name: /Selector/ }), "node.id=");
  expect((await screen.findByRole("alert")).textContent).toBe("selector, byte 9: a value is missing");
});

test("a secret is told of, and never shown; what is written anew stays out of the browser's store", async () => {
  stored = cert;
  open("/fleets/edge/resources/secrets/cert");
  expect(await screen.findByText("CN=shop.example")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Replace the certificate and key" }));
  await userEvent.click(screen.getByRole("textbox", { name: /Certificate chain/ }));
  await userEvent.paste("-----BEGIN CERTIFICATE-----\nC\n-----END CERTIFICATE-----");
  await userEvent.click(screen.getByRole("textbox", { name: /Private key/ }));
  await userEvent.paste("-----BEGIN PRIVATE KEY-----\nTOPSECRET\n-----END PRIVATE KEY-----");
  await userEvent.click(screen.getByRole("button", { name: "Add to the draft" }));
  expect(editOf(readDraft(author, "edge"), { type: "secrets", name: "cert" })?.text).toContain("TOPSECRET");
  await screen.findByRole("textbox", { name: "New content, without the key" });
  expect(document.body.textContent).not.toContain("TOPSECRET");
  expect(kept()).not.toContain("TOPSECRET");
});

test("a viewer reads, and is told why not more", async () => {
  server.use(get("/v1/whoami", { ...me, role: "viewer" }));
  open(address);
  const view = await editor();
  expect(view.state.readOnly).toBe(true);
  expect(screen.getByText(/You may look at this and not change it: your role is viewer/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Delete" })).toBeNull();
  expect(screen.queryByRole("button", { name: "New variant" })).toBeNull();
});

test("a pipeline's token may write, as it may publish", async () => {
  server.use(get("/v1/whoami", { ...me, role: "ci" }));
  open(address);
  expect((await editor()).state.readOnly).toBe(false);
  expect(screen.getByRole("button", { name: "Delete" })).toBeTruthy();
});

test("what is not there is said, with its history", async () => {
  stored = null;
  open(address);
  expect(await screen.findByText("There is no cluster backend")).toBeTruthy();
  expect(await screen.findByRole("table", { name: "History of this resource" })).toBeTruthy();
  open("/fleets/edge/resources/nonsense/backend");
  expect(await screen.findByText("There are no resources of type nonsense")).toBeTruthy();
});
