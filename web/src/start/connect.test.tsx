import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse } from "msw";
import { beforeEach, expect, test } from "vitest";
import type { EventList, Node, NodeList, Whoami } from "../api/client";
import { changed } from "../api/follow";
import { open } from "../test/render";
import { get, me, on, problem, server } from "../test/server";
import { newFleet } from "./made";

const fleet = "/v1/tenants/acme/fleets/edge";
const aNode = (id: string): Node => ({ id, state: "live", settled: 0, first_seen: "2026-01-01T00:00:00Z", last_seen: "2026-01-01T00:00:00Z", refusals: [], user_agent: "envoy", version: "1.40.0" });

let questions: URLSearchParams[];

beforeEach(() => {
  questions = [];
  server.use(
    get(fleet, newFleet("edge")),
    get<NodeList>(`${fleet}/nodes`, { items: [] }),
    get<EventList>(`${fleet}/events`, { items: [], position: "p" }),
    get(`${fleet}/bootstrap`, (request) => {
      questions.push(new URL(request.url).searchParams);
      return { files: [{ name: "envoy.yaml", text: "node: {}" }], notes: ["The node token is not in the file."] };
    }),
  );
});

test("the token is made for the node, shown, and put into the command", async () => {
  let asked: unknown;
  server.use(
    on("post", `${fleet}/credentials`, async ({ request }) => {
      asked = await request.json();
      return HttpResponse.json({ token: "flf1.x", credential: { id: "c-1", nodes: "edge-1", description: "", created_at: "2026-01-01T00:00:00Z" } }, { status: 201 });
    }),
  );
  open("/fleets/edge/connect");
  expect((await screen.findByLabelText("envoy.yaml")).textContent).toBe("node: {}");
  expect(screen.getByLabelText("the command").textContent).toContain("THE NODE TOKEN");
  await userEvent.click(screen.getByRole("button", { name: "Make the token" }));
  expect((await screen.findByLabelText("the node token")).textContent).toBe("flf1.x");
  expect(screen.getByLabelText("the command").textContent).toBe("export FAIRLEAD_NODE_TOKEN='flf1.x'\nenvoy -c envoy.yaml");
  expect(asked).toMatchObject({ nodes: "edge-1" });
  expect(location.href).not.toContain("flf1");
});

test("it waits until the node is there, and leads on to the first route", async () => {
  let here = false;
  server.use(
    get<NodeList>(`${fleet}/nodes`, (request) => {
      expect(new URL(request.url).searchParams.get("prefix")).toBe("edge-1");
      return { items: here ? [aNode("edge-1")] : [aNode("edge-10")] };
    }),
  );
  open("/fleets/edge/connect");
  expect(await screen.findByText(/Waiting for edge-1 to connect/)).toBeTruthy();
  here = true;
  changed(["nodes"], "edge"); // as the event stream says
  expect(await screen.findByText("edge-1 is connected")).toBeTruthy();
  expect(screen.getByRole("link", { name: "Make the first route" }).getAttribute("href")).toBe("/fleets/edge/new?kind=listener");
});

test("what is answered goes into the file's question", async () => {
  open("/fleets/edge/connect?xds=xds.example.com:18000&label=metadata.canary=true");
  await waitFor(() => expect(questions.length).toBeGreaterThan(0));
  await userEvent.type(await screen.findByLabelText("Node id"), "0");
  await waitFor(() => expect(questions.at(-1)?.get("node_id")).toBe("edge-10"));
  const last = questions.at(-1);
  expect([last?.get("xds"), last?.get("plaintext"), last?.get("label"), last?.get("client")]).toEqual(["xds.example.com:18000", "false", "metadata.canary=true", "envoy"]);
});

test("who was turned away is told, with the reason", async () => {
  server.use(
    get<EventList>(`${fleet}/events`, {
      position: "p",
      items: [
        { id: "1", at: "2026-01-01T00:00:00Z", kind: "denied", node: "other", reason: "node_id_forbidden", address: "10.0.0.7" },
        { id: "2", at: "2026-01-01T00:00:00Z", kind: "recovered", node: "b" },
      ],
    }),
  );
  open("/fleets/edge/connect");
  const told = await screen.findByText(/other from 10.0.0.7/);
  expect(told.textContent).toContain("its credential is not for nodes of this id");
  expect(told.closest("ul")?.children).toHaveLength(1);
});

test("who may not make a token is told who may", async () => {
  server.use(get<Whoami>("/v1/whoami", { ...me, role: "editor" }));
  open("/fleets/edge/connect");
  expect(await screen.findByText(/An admin or an owner of the tenant makes node credentials/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Make the token" })).toBeNull();
});

test("a question that the API refuses is told by its words", async () => {
  server.use(on("get", `${fleet}/bootstrap`, () => problem(400, "invalid_request", "xds must be host:port")));
  open("/fleets/edge/connect?xds=nonsense");
  expect((await screen.findByRole("alert")).textContent).toContain("xds must be host:port");
});
