import { EditorView } from "@codemirror/view";
import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse } from "msw";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import { router } from "../app/router";
import { cluster } from "../code/fixture";
import { clearDraft, editOf, readDraft } from "../draft/store";
import { open } from "../test/render";
import { author, get, me, on, problem, server } from "../test/server";
import { backend, base, fleet } from "./fixture";

beforeAll(() => Promise.all([import("../code/editor"), import("./new")])); // they are large, and the first test would wait for them alone

beforeEach(() => {
  clearDraft(author, "edge");
  sessionStorage.clear();
  server.use(
    get(base, fleet),
    get("/v1/schemas/:type", cluster),
    on("get", "/v1/schemas/type/:message", () => problem(404, "not_found", "no such message")),
    get(`${base}/resources/:type`, { items: [backend] }),
    get(`${base}/resources/:type/:name/history`, { items: [] }),
    on("get", `${base}/resources/:type/:name`, () => problem(404, "not_found", "no such resource")),
    on("post", `${base}/plan`, () => HttpResponse.json({ revision: 7, counts: { create: 1, update: 0, delete: 0, unchanged: 0 }, resources: [], limits: [], confirm: [], token: "t" })),
  );
});

const kept = () => [localStorage, sessionStorage].map((s) => Object.values(s).join()).join();
const text = async () => EditorView.findFromDOM(await screen.findByRole("textbox", { name: "New document" }))?.state.doc.toString() ?? "";

test("a form fills a document, and it goes into the draft", async () => {
  open("/fleets/edge/new");
  await userEvent.click(await screen.findByRole("link", { name: "Route" }));
  await userEvent.click(await screen.findByRole("textbox", { name: /Name/ }));
  await userEvent.paste("main");
  expect(screen.getByRole<HTMLButtonElement>("button", { name: "Add to the draft" }).disabled).toBe(true);
  await userEvent.click(screen.getByRole("combobox", { name: /Cluster/ }));
  await userEvent.click(await screen.findByRole("option", { name: "backend" }));
  await waitFor(async () => expect(parse(await text())).toMatchObject({ type: "routes", name: "main", body: { virtual_hosts: [{ domains: ["*"], routes: [{ route: { cluster: "backend" } }] }] } }));
  await userEvent.click(screen.getByRole("button", { name: "Add to the draft" }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/fleets/edge/resources/routes/main"));
  expect(editOf(readDraft(author, "edge"), { type: "routes", name: "main" })).toMatchObject({ action: "write", base: "" });
});

test("the address fills the form, and a reload loses nothing", async () => {
  const { unmount } = open("/fleets/edge/new?kind=cluster&name=api");
  expect((await screen.findByRole<HTMLInputElement>("textbox", { name: /^Name/ })).value).toBe("api");
  await userEvent.type(screen.getByRole("textbox", { name: /Connect timeout/ }), "0");
  unmount();
  open("/fleets/edge/new?kind=cluster");
  expect((await screen.findByRole<HTMLInputElement>("textbox", { name: /^Name/ })).value).toBe("api");
  expect(screen.getByRole<HTMLInputElement>("textbox", { name: /Connect timeout/ }).value).toBe("1s0");
});

test("a name that is taken is told", async () => {
  open("/fleets/edge/new?kind=cluster&name=backend");
  expect(await screen.findByText("There is a cluster backend already")).toBeTruthy();
});

test("a blank document of any type", async () => {
  open("/fleets/edge/new?kind=blank&type=runtimes&name=flags");
  expect(await text()).toBe("type: runtimes\nname: flags\nbody:\n  name: flags\n");
});

test("a secret's key is not shown, and stays in the tab", async () => {
  open("/fleets/edge/new?kind=secret");
  await userEvent.click(await screen.findByRole("textbox", { name: /^Name/ }));
  await userEvent.paste("cert");
  await userEvent.click(screen.getByRole("textbox", { name: /Certificate chain/ }));
  await userEvent.paste("-----BEGIN CERTIFICATE-----\nC\n-----END CERTIFICATE-----");
  await userEvent.click(screen.getByRole("textbox", { name: /Private key/ }));
  await userEvent.paste("no key");
  expect(screen.getByText("This is no PEM private key.")).toBeTruthy();
  await userEvent.clear(screen.getByRole("textbox", { name: /Private key/ }));
  await userEvent.paste("-----BEGIN EC PRIVATE KEY-----\nTOPSECRET\n-----END EC PRIVATE KEY-----");
  await userEvent.click(screen.getByRole("button", { name: "Make the document" }));
  await screen.findByRole("textbox", { name: "New secret, without the key" });
  expect(document.body.textContent).not.toContain("TOPSECRET");
  await userEvent.click(screen.getByRole("button", { name: "Add to the draft" }));
  expect(editOf(readDraft(author, "edge"), { type: "secrets", name: "cert" })?.text).toContain("TOPSECRET");
  expect(kept()).not.toContain("TOPSECRET");
});

test("a viewer makes nothing, and is told why", async () => {
  server.use(get("/v1/whoami", { ...me, role: "viewer" }));
  open("/fleets/edge/new?kind=route");
  expect(await screen.findByText("You may look, and not write")).toBeTruthy();
});
