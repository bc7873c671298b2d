// Every page: what axe finds, that nothing is wider than the screen, and with FAIRLEAD_SCREENSHOTS how it looks, light, dark and on a phone (FAIRLEAD_LOOK: one of them).
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { apply, barriers, cluster, makeFleet, ready, settledAt, signIn, someone, startEnvoy, tenant, unique } from "./world";

const keep = process.env.FAIRLEAD_SCREENSHOTS === "1";
const folder = join(import.meta.dirname, "../../docs/screenshots");

const all = [
  { name: "light", options: { colorScheme: "light" } },
  { name: "dark", options: { colorScheme: "dark" } },
  { name: "phone", options: { colorScheme: "light", viewport: { width: 390, height: 844 } } },
] as const;
const looks = all.filter((l) => l.name === (process.env.FAIRLEAD_LOOK ?? l.name));

let fleet = "";
let refusing = 0;
beforeAll(async () => {
  fleet = await makeFleet(`shop-${unique()}`);
  await apply(fleet, shop(), "the shop's first configuration");
  for (const node of ["edge-1", "edge-2"]) await startEnvoy(fleet, node, { lasts: true });
  for (const node of ["edge-1", "edge-2"]) await settledAt(fleet, node, 1);
  await apply(fleet, [cluster("cart", { connect_timeout: "2s" })], "more patience with the cart");
  for (const node of ["edge-1", "edge-2"]) await settledAt(fleet, node, 2);
  refusing = await apply(fleet, [cluster("payments", poison)], "payments: a better policy");
});

/** Envoy refuses it, and the API does not know why: it is no fault of the message. */
const poison = { lb_policy: "CLUSTER_PROVIDED" };

function shop(): Record<string, unknown>[] {
  const to = (name: string, prefix: string) => ({ match: { prefix }, route: { cluster: name } });
  const routes = (name: string, ...of: object[]) => ({ type: "routes", name, labels: { team: "shop" }, body: { name, virtual_hosts: [{ name: "shop", domains: ["*"], routes: of }] } });
  const manager = {
    "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    stat_prefix: "public",
    rds: { route_config_name: "public", config_source: { ads: {}, resource_api_version: "V3" } },
    http_filters: [{ name: "router", typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" } }],
  };
  return [
    cluster("catalog"), cluster("cart"), cluster("payments"),
    routes("public", to("cart", "/cart"), to("payments", "/pay"), to("catalog", "/")),
    routes("legacy", to("chekout", "/checkout")),
    { type: "listeners", name: "public", body: { name: "public", address: { socket_address: { address: "127.0.0.1", port_value: 0 } }, filter_chains: [{ filters: [{ name: "http", typed_config: manager }] }] } },
  ];
}

/** What somebody has typed, as the page keeps it. */
function draft(): string {
  const text = (seconds: number) => `type: clusters\nname: catalog\nbody:\n  name: catalog\n  type: STATIC\n  connect_timeout: ${seconds}s\n  load_assignment:\n    cluster_name: catalog\n`;
  return JSON.stringify({ message: "catalog: more patience", edits: [{ action: "write", type: "clusters", name: "catalog", text: text(5), base: text(1), at: new Date().toISOString() }] });
}

/** name, address, and a heading that it has. */
const pages = (): [string, string][] => [
  ["fleets", "/"],
  ["overview", `/fleets/${fleet}`],
  ["nodes", `/fleets/${fleet}/nodes`],
  ["node", `/fleets/${fleet}/nodes/edge-1`],
  ["connect", `/fleets/${fleet}/connect`],
  ["resources", `/fleets/${fleet}/resources`],
  ["resource", `/fleets/${fleet}/resources/clusters/cart`],
  ["new-resource", `/fleets/${fleet}/new`],
  ["new-listener", `/fleets/${fleet}/new?kind=listener`],
  ["draft", `/fleets/${fleet}/draft`],
  ["history", `/fleets/${fleet}/history`],
  ["receipt", `/fleets/${fleet}/history/${refusing}`],
  ["compare", `/fleets/${fleet}/compare?from=1&to=${refusing}`],
  ["rollback", `/fleets/${fleet}/rollback/1`],
  ["findings", `/fleets/${fleet}/findings`],
  ["events", `/fleets/${fleet}/events`],
  ["topology", `/fleets/${fleet}/topology`],
  ["import", `/fleets/${fleet}/import`],
  ["promote", `/fleets/${fleet}/promote`],
  ["export", `/fleets/${fleet}/export`],
  ["fleet-settings", `/fleets/${fleet}/settings`],
  ["settings", "/settings"],
  ["audit", "/audit"],
];

async function settled(page: Page) {
  await page.locator("h1").waitFor();
  await page.locator('[aria-busy="true"]').first().waitFor({ state: "detached" });
}

/** Looks at what is on screen, and returns what is wrong with it. */
async function looked(page: Page, name: string): Promise<string[]> {
  await settled(page);
  const wrong = await barriers(page);
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wider > 0) wrong.push(`it is ${wider} px wider than the screen`);
  return wrong.map((w) => `${name}: ${w}`);
}

async function pictured(page: Page, name: string, look: string) {
  if (!keep) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}-${look}.png`), animations: "disabled" });
}

test.for(looks)("every page, $name", { timeout: 300_000 }, async ({ name: look, options }) => {
  const page = await someone(options);
  await page.goto("/");
  await page.getByLabel("API token").waitFor();
  const wrong = await looked(page, "sign-in");
  await pictured(page, "sign-in", look);
  await signIn(page, "/");
  await page.evaluate(([key, text]) => localStorage.setItem(key, text), [`fairlead.draft/${tenant}/${fleet}`, draft()] as const);
  for (const [name, address] of pages()) {
    await page.goto(address);
    wrong.push(...(await looked(page, name)));
    await pictured(page, name, look);
  }
  expect(wrong).toEqual([]);
});

test.for(looks)("the operator's page, $name", async ({ name: look, options }) => {
  const page = await someone(options);
  await signIn(page, "/operator", ready.operator_token);
  const wrong = await looked(page, "operator");
  await pictured(page, "operator", look);
  expect(wrong).toEqual([]);
});
