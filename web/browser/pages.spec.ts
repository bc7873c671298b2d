// Every page: what axe finds, that nothing is wider than the screen, and with FAIRLEAD_SCREENSHOTS how it looks, light, dark and on a phone (FAIRLEAD_LOOK: one of them).
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { apply, barriers, cluster, makeFleet, ready, settledAt, signIn, someone, startEnvoy, unique } from "./world";

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
  await startEnvoy(fleet, "edge-1");
  await settledAt(fleet, "edge-1", 1);
  refusing = await apply(fleet, [cluster("payments", poison)], "payments: a better policy");
});

/** Envoy refuses it, and the API does not know why: it is no fault of the message. */
const poison = { lb_policy: "CLUSTER_PROVIDED" };

function shop(): Record<string, unknown>[] {
  const route = (name: string, prefix: string) => ({ match: { prefix }, route: { cluster: name } });
  return [
    cluster("catalog"), cluster("cart"), cluster("payments"),
    { type: "routes", name: "public", labels: { team: "shop" }, body: { name: "public", virtual_hosts: [{ name: "shop", domains: ["*"], routes: [route("cart", "/cart"), route("payments", "/pay"), route("catalog", "/")] }] } },
  ];
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
