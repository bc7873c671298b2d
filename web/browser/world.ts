// What a test does with the installation: a browser, who is signed in, fleets of its own, Envoys of its own.
import { AxeBuilder } from "@axe-core/playwright";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import createClient from "openapi-fetch";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject } from "vitest";
import type { paths, Role } from "../../clients/typescript/src/schema";

export const ready = inject("ready");
export const tenant = ready.tenant;

/** The API as the owner's token has it, past the page. */
export const api = createClient<paths>({ baseUrl: ready.api_url, headers: { Authorization: `Bearer ${ready.api_token}` } });

let browser: Browser | undefined;
const contexts: BrowserContext[] = [];
const children: (() => void)[] = []; // of one test
const lasting: (() => void)[] = []; // of all of a file

/** What the browser complains of: errors, dialogs and what the page's policy forbids. No test may leave any. */
const complaints: string[] = [];

beforeAll(async () => {
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    chromiumSandbox: false,
    args: ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"],
  });
});
afterEach(async ({ task }) => {
  if (task.result?.state === "fail") {
    for (const [i, c] of contexts.entries()) await c.pages()[0]?.screenshot({ path: join(tmpdir(), `fairlead-failed-${task.name.replaceAll(/\W+/g, "-").slice(0, 40)}-${i}.png`) });
  }
  await Promise.all(contexts.splice(0).map((c) => c.close()));
  for (const end of children.splice(0)) end();
  expect(complaints.splice(0)).toEqual([]);
});
afterAll(async () => {
  for (const end of lasting.splice(0)) end();
  await browser?.close();
});

/** A browser of somebody's own. */
export async function someone(options: BrowserContextOptions = {}): Promise<Page> {
  if (!browser) throw new Error("there is no browser");
  const context = await browser.newContext({ baseURL: ready.api_url, viewport: { width: 1280, height: 900 }, reducedMotion: "reduce", ...options });
  contexts.push(context);
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  page.on("pageerror", (e) => complaints.push(`error: ${e.message}`));
  page.on("dialog", (d) => {
    complaints.push(`dialog: ${d.message()}`);
    void d.dismiss();
  });
  page.on("console", (m) => {
    if (/Content Security Policy|Trusted ?Type|violates/i.test(m.text())) complaints.push(`policy: ${m.text()}`);
  });
  return page;
}

/** Signs in at an address, and comes back to it. */
export async function signIn(page: Page, address = "/", token = ready.api_token) {
  await page.goto(address);
  await page.getByLabel("API token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).first().waitFor({ state: "attached" });
}

/** A token of a role, made past the page. */
export async function tokenOf(role: Role, fleet?: string): Promise<string> {
  const { data, error } = await api.POST("/v1/tenants/{tenant}/tokens", { params: { path: { tenant } }, body: { name: `test-${role}-${unique()}`, role, ...(fleet ? { fleet } : {}) } });
  if (!data) throw new Error(JSON.stringify(error));
  return data.token;
}

let count = 0;
export const unique = () => `${process.pid.toString(36)}${(count++).toString(36)}`;

/** A fleet of a test's own. */
export async function makeFleet(name = `t-${unique()}`): Promise<string> {
  const { error } = await api.POST("/v1/tenants/{tenant}/fleets", { params: { path: { tenant } }, body: { name } });
  if (error) throw new Error(JSON.stringify(error));
  return name;
}

/** Writes documents past the page, as one revision. */
export async function apply(fleet: string, resources: Record<string, unknown>[], message?: string): Promise<number> {
  const { data, error } = await api.POST("/v1/tenants/{tenant}/fleets/{fleet}/apply", {
    params: { path: { tenant, fleet } },
    body: { resources, ...(message ? { message } : {}) },
  });
  if (!data) throw new Error(JSON.stringify(error));
  return data.revision;
}

export const cluster = (name: string, more: object = {}) => ({
  type: "clusters",
  name,
  body: { name, type: "STATIC", connect_timeout: "1s", load_assignment: { cluster_name: name, endpoints: [] }, ...more },
});

interface EnvoyOptions {
  metadata?: Record<string, string>;
  /** It ends with the file's last test, and not with the present one. */
  lasts?: boolean;
  /** It reports its load. */
  reports?: boolean;
}

/** Starts an Envoy of the fleet, which ends with the test. */
export async function startEnvoy(fleet: string, node: string, { metadata = {}, lasts = false, reports = false }: EnvoyOptions = {}): Promise<ChildProcess> {
  const credential = await api.POST("/v1/tenants/{tenant}/fleets/{fleet}/credentials", { params: { path: { tenant, fleet } }, body: { nodes: node } });
  if (!credential.data) throw new Error(JSON.stringify(credential.error));
  return runEnvoy(bootstrap(node, credential.data.token, metadata, reports), {}, lasts ? lasting : children);
}

/** A port that nobody has at the moment. */
export function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.once("error", fail);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => (typeof address === "object" && address ? done(address.port) : fail(new Error("no port"))));
    });
  });
}

/** Runs an Envoy with a bootstrap, until the test ends. */
export function runEnvoy(text: string, env: Record<string, string> = {}, ends = children): ChildProcess {
  const folder = mkdtempSync(join(tmpdir(), "fairlead-envoy-"));
  const file = join(folder, "bootstrap.yaml");
  writeFileSync(file, text);
  const child = spawn(ready.envoy_path, ["-c", file, "--disable-hot-restart", "--concurrency", "1", "--log-level", "error"], { stdio: "ignore", env: { ...process.env, ...env } });
  ends.push(() => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  return child;
}

function bootstrap(node: string, token: string, metadata: Record<string, string>, reports: boolean): string {
  const [host, port] = ready.xds_address.split(":");
  const grpc_services = [{ envoy_grpc: { cluster_name: "fairlead" }, initial_metadata: [{ key: "authorization", value: `Bearer ${token}` }] }];
  return JSON.stringify({
    node: { id: node, cluster: "test", metadata },
    ...(reports && { cluster_manager: { load_stats_config: { api_type: "GRPC", transport_api_version: "V3", grpc_services } } }),
    dynamic_resources: {
      ads_config: { api_type: "DELTA_GRPC", transport_api_version: "V3", grpc_services },
      cds_config: { ads: {}, resource_api_version: "V3" },
      lds_config: { ads: {}, resource_api_version: "V3" },
    },
    static_resources: {
      clusters: [
        {
          name: "fairlead",
          type: "STATIC",
          connect_timeout: "1s",
          typed_extension_protocol_options: {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
              "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
              explicit_http_config: { http2_protocol_options: {} },
            },
          },
          load_assignment: {
            cluster_name: "fairlead",
            endpoints: [{ lb_endpoints: [{ endpoint: { address: { socket_address: { address: host, port_value: Number(port) } } } }] }],
          },
        },
      ],
    },
  });
}

/** Waits until a node has settled at a revision. */
export async function settledAt(fleet: string, node: string, revision: number) {
  let position: string | undefined;
  for (;;) {
    const { data } = await api.GET("/v1/tenants/{tenant}/fleets/{fleet}/nodes/{node}", { params: { path: { tenant, fleet, node } } });
    if (data && data.settled >= revision) return;
    const news = await api.GET("/v1/tenants/{tenant}/fleets/{fleet}/live", { params: { path: { tenant, fleet }, query: { wait: "10s", ...(position ? { after: position } : {}) } } });
    position = typeof news.data === "object" ? news.data.position : undefined;
  }
}

/** What axe finds on what is on screen and calls serious or critical. */
export async function barriers(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const bad = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
  return bad.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.target.join(" ")).join("; ")}`);
}
