// Every address of the page. A view comes when it is first opened; what it shows is told by the address alone.
import { Text } from "@mantine/core";
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
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

const start = createRoute({ getParentRoute: () => root, path: "/", component: lazyRouteComponent(() => import("../start/start"), "Start") });
const tenantSettings = createRoute({ getParentRoute: () => root, path: "/settings", component: lazyRouteComponent(() => import("../settings/tenant"), "TenantSettings") });
const audit = createRoute({ getParentRoute: () => root, path: "/audit", component: lazyRouteComponent(() => import("../events/audit"), "Audit") });
const operator = createRoute({ getParentRoute: () => root, path: "/operator", component: lazyRouteComponent(() => import("../operator/operator"), "Operator") });

const fleet = createRoute({ getParentRoute: () => root, path: "/fleets/$fleet", component: FleetFrame });
const overview = createRoute({ getParentRoute: () => fleet, path: "/", component: lazyRouteComponent(() => import("../overview/overview"), "Overview") });
const nodes = createRoute({ getParentRoute: () => fleet, path: "/nodes", component: lazyRouteComponent(() => import("../nodes/nodes"), "Nodes") });
const node = createRoute({ getParentRoute: () => fleet, path: "/nodes/$node", component: lazyRouteComponent(() => import("../nodes/node"), "Node") });
const connect = createRoute({ getParentRoute: () => fleet, path: "/connect", component: lazyRouteComponent(() => import("../start/connect"), "Connect") });
const resources = createRoute({ getParentRoute: () => fleet, path: "/resources", component: lazyRouteComponent(() => import("../resources/resources"), "Resources") });
const newResource = createRoute({ getParentRoute: () => fleet, path: "/new", component: lazyRouteComponent(() => import("../resources/new"), "NewResource") });
const resource = createRoute({ getParentRoute: () => fleet, path: "/resources/$type/$name", component: lazyRouteComponent(() => import("../resources/resource"), "Resource") });
const draft = createRoute({ getParentRoute: () => fleet, path: "/draft", component: lazyRouteComponent(() => import("../draft/draft"), "DraftView") });
const history = createRoute({ getParentRoute: () => fleet, path: "/history", component: lazyRouteComponent(() => import("../history/history"), "History") });
const revision = createRoute({ getParentRoute: () => fleet, path: "/history/$revision", component: lazyRouteComponent(() => import("../history/revision"), "RevisionView") });
const compare = createRoute({ getParentRoute: () => fleet, path: "/compare", component: lazyRouteComponent(() => import("../history/compare"), "Compare") });
const rollback = createRoute({ getParentRoute: () => fleet, path: "/rollback/$revision", component: lazyRouteComponent(() => import("../history/rollback"), "Rollback") });
const findings = createRoute({ getParentRoute: () => fleet, path: "/findings", component: lazyRouteComponent(() => import("../overview/findings"), "Findings") });
const events = createRoute({ getParentRoute: () => fleet, path: "/events", component: lazyRouteComponent(() => import("../events/events"), "Events") });
const topology = createRoute({ getParentRoute: () => fleet, path: "/topology", component: lazyRouteComponent(() => import("../topology/topology"), "Topology") });
const importing = createRoute({ getParentRoute: () => fleet, path: "/import", component: lazyRouteComponent(() => import("../transfer/import"), "Import") });
const promote = createRoute({ getParentRoute: () => fleet, path: "/promote", component: lazyRouteComponent(() => import("../transfer/promote"), "Promote") });
const exporting = createRoute({ getParentRoute: () => fleet, path: "/export", component: lazyRouteComponent(() => import("../transfer/export"), "Export") });
const settings = createRoute({ getParentRoute: () => fleet, path: "/settings", component: lazyRouteComponent(() => import("../settings/fleet"), "FleetSettings") });

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
