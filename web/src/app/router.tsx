// Every address of the page. A view comes when it is first opened; what it shows is told by the address alone.
import { Text } from "@mantine/core";
import { createRootRoute, createRoute, createRouter } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { holdsSecrets } from "../draft/store";
import { later } from "../ui/later";
import { TextLink } from "../ui/link";
import { Empty } from "../ui/page";
import { ProblemAlert } from "../ui/problem";
import { FleetFrame } from "./fleet-frame";
import { Shell } from "./shell";

/** What the address says behind its "?" : words alone; each view reads its own (see search in ui/search.ts). */
export type Search = Record<string, string | undefined>;

const root = createRootRoute({
  component: Shell,
  validateSearch: (raw: Record<string, unknown>): Search => {
    const search: Search = {};
    for (const [key, value] of Object.entries(raw)) {
      if (typeof value === "string") search[key] = value;
      else if (typeof value === "number" || typeof value === "boolean") search[key] = String(value);
    }
    return search;
  },
  notFoundComponent: () => (
    <Empty title="There is no such page">
      <TextLink to="/">To the fleets</TextLink>
    </Empty>
  ),
  errorComponent: ({ error }) => <ProblemAlert error={error} retry={() => location.reload()} />,
});

/** A view, whose code comes when it is first opened. */
const view = (load: () => Promise<() => ReactNode>) => later(load, { mayReload: () => !holdsSecrets() });

const start = createRoute({ getParentRoute: () => root, path: "/", component: view(() => import("../start/start").then((m) => m.Start)) });
const tenantSettings = createRoute({ getParentRoute: () => root, path: "/settings", component: view(() => import("../settings/tenant").then((m) => m.TenantSettings)) });
const audit = createRoute({ getParentRoute: () => root, path: "/audit", component: view(() => import("../events/audit").then((m) => m.Audit)) });
const operator = createRoute({ getParentRoute: () => root, path: "/operator", component: view(() => import("../operator/operator").then((m) => m.Operator)) });

const fleet = createRoute({ getParentRoute: () => root, path: "/fleets/$fleet", component: FleetFrame });
const overview = createRoute({ getParentRoute: () => fleet, path: "/", component: view(() => import("../overview/overview").then((m) => m.Overview)) });
const nodes = createRoute({ getParentRoute: () => fleet, path: "/nodes", component: view(() => import("../nodes/nodes").then((m) => m.Nodes)) });
const node = createRoute({ getParentRoute: () => fleet, path: "/nodes/$node", component: view(() => import("../nodes/node").then((m) => m.Node)) });
const connect = createRoute({ getParentRoute: () => fleet, path: "/connect", component: view(() => import("../start/connect").then((m) => m.Connect)) });
const resources = createRoute({ getParentRoute: () => fleet, path: "/resources", component: view(() => import("../resources/resources").then((m) => m.Resources)) });
const newResource = createRoute({ getParentRoute: () => fleet, path: "/new", component: view(() => import("../resources/new").then((m) => m.NewResource)) });
const resource = createRoute({ getParentRoute: () => fleet, path: "/resources/$type/$name", component: view(() => import("../resources/resource").then((m) => m.Resource)) });
const draft = createRoute({ getParentRoute: () => fleet, path: "/draft", component: view(() => import("../draft/draft").then((m) => m.DraftView)) });
const history = createRoute({ getParentRoute: () => fleet, path: "/history", component: view(() => import("../history/history").then((m) => m.History)) });
const revision = createRoute({ getParentRoute: () => fleet, path: "/history/$revision", component: view(() => import("../history/revision").then((m) => m.RevisionView)) });
const compare = createRoute({ getParentRoute: () => fleet, path: "/compare", component: view(() => import("../history/compare").then((m) => m.Compare)) });
const rollback = createRoute({ getParentRoute: () => fleet, path: "/rollback/$revision", component: view(() => import("../history/rollback").then((m) => m.Rollback)) });
const findings = createRoute({ getParentRoute: () => fleet, path: "/findings", component: view(() => import("../overview/findings").then((m) => m.Findings)) });
const events = createRoute({ getParentRoute: () => fleet, path: "/events", component: view(() => import("../events/events").then((m) => m.Events)) });
const topology = createRoute({ getParentRoute: () => fleet, path: "/topology", component: view(() => import("../topology/topology").then((m) => m.Topology)) });
const importing = createRoute({ getParentRoute: () => fleet, path: "/import", component: view(() => import("../transfer/import").then((m) => m.Import)) });
const promote = createRoute({ getParentRoute: () => fleet, path: "/promote", component: view(() => import("../transfer/promote").then((m) => m.Promote)) });
const exporting = createRoute({ getParentRoute: () => fleet, path: "/export", component: view(() => import("../transfer/export").then((m) => m.Export)) });
const settings = createRoute({ getParentRoute: () => fleet, path: "/settings", component: view(() => import("../settings/fleet").then((m) => m.FleetSettings)) });

const tree = root.addChildren([
  start, tenantSettings, audit, operator,
  fleet.addChildren([overview, nodes, node, connect, resources, newResource, resource, draft, history, revision, compare, rollback, findings, events, topology, importing, promote, exporting, settings]),
]);

export const router = createRouter({
  routeTree: tree,
  defaultPreload: false,
  scrollRestoration: true,
  defaultPendingComponent: () => <Text c="dimmed">Loading</Text>,
  defaultErrorComponent: ({ error }) => <ProblemAlert error={error} retry={() => location.reload()} />,
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const words = new URLSearchParams();
    for (const [key, value] of Object.entries(search)) if (typeof value === "string" && value !== "") words.set(key, value);
    const text = words.toString();
    return text === "" ? "" : `?${text}`;
  },
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
