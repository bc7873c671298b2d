// What proxies report of their load, as a real Envoy reports it.
import { createServer, get, type Server } from "node:http";
import { afterEach, expect, test } from "vitest";
import { api, apply, barriers, cluster, freePort, makeFleet, settledAt, signIn, someone, startEnvoy, tenant, tokenOf } from "./world";

const backends: Server[] = [];
afterEach(() => {
  for (const b of backends.splice(0)) {
    b.closeAllConnections();
    b.close();
  }
});

/** Answers 503 to /fail; returns its port. */
function failsSometimes(): Promise<number> {
  const server = createServer((request, response) => response.writeHead(request.url === "/fail" ? 503 : 200).end());
  backends.push(server);
  return new Promise((done, fail) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (typeof address === "object" && address) done(address.port);
      else fail(new Error("no port"));
    });
  });
}

/** The status of an answer; 0 where none comes. */
const ask = (port: number, path: string) =>
  new Promise<number>((done) => {
    get({ host: "127.0.0.1", port, path, agent: false }, (response) => {
      response.resume();
      done(response.statusCode ?? 0);
    }).once("error", () => done(0));
  });

/** Sends requests until some that failed are reported. An Envoy counts a cluster from its first report on. */
async function untilReported(fleet: string, port: number) {
  for (;;) {
    for (const path of ["/", "/", "/", "/fail"]) await ask(port, path);
    await api.GET("/v1/tenants/{tenant}/fleets/{fleet}/live", { params: { path: { tenant, fleet }, query: { wait: "2s" } } }); // a pause
    const { data } = await api.GET("/v1/tenants/{tenant}/fleets/{fleet}/load", { params: { path: { tenant, fleet }, query: { clusters: ["shop"] } } });
    if (data?.items.some((l) => l.errors > 0 && l.successful > 0)) return;
  }
}

const serving = (port: number, backend: number) => {
  const manager = {
    "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    stat_prefix: "public",
    route_config: { name: "public", virtual_hosts: [{ name: "shop", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster: "shop" } }] }] },
    http_filters: [{ name: "router", typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" } }],
  };
  const endpoint = { endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: backend } } } };
  return [
    cluster("shop", { load_assignment: { cluster_name: "shop", endpoints: [{ locality: { region: "eu", zone: "z1" }, lb_endpoints: [endpoint] }] } }),
    cluster("idle"),
    { type: "listeners", name: "public", body: { name: "public", address: { socket_address: { address: "127.0.0.1", port_value: port } }, filter_chains: [{ filters: [{ name: "http", typed_config: manager }] }] } },
  ];
};

test("a viewer sees the load that an Envoy reports, and how it goes on", async () => {
  const [fleet, port, backend] = [await makeFleet(), await freePort(), await failsSometimes()];
  await apply(fleet, serving(port, backend));
  await startEnvoy(fleet, "edge-1", { reports: true });
  await settledAt(fleet, "edge-1", 1);
  await untilReported(fleet, port);

  const page = await someone();
  await signIn(page, `/fleets/${fleet}/resources?type=clusters`, await tokenOf("viewer"));
  await page.getByRole("columnheader", { name: "Requests, last hour" }).waitFor();
  expect(await page.getByRole("row", { name: /^shop/ }).textContent()).toMatch(/\d+, \d+ errors?/);
  expect(await page.getByRole("row", { name: /^idle/ }).textContent()).not.toContain("error");
  expect(await barriers(page)).toEqual([]);

  await page.getByRole("link", { name: "shop", exact: true }).click();
  const load = page.getByRole("region", { name: "Load" });
  await load.getByRole("img", { name: /^Chart of the requests of the last hour/ }).locator("canvas").waitFor();
  await load.getByRole("table", { name: "By locality" }).getByText("eu/z1").waitFor();
  await load.getByText("The numbers").click();
  expect(await load.getByRole("table", { name: "Load by minute" }).getByRole("row").count()).toBeGreaterThan(1);
  expect(await barriers(page)).toEqual([]);

  const sentence = load.getByText(/^[\d,]+ requests in the last hour/);
  const before = (await sentence.textContent()) ?? "";
  await ask(port, "/");
  await sentence.filter({ hasNotText: before }).waitFor({ timeout: 60_000 }); // nobody has touched the page

  await page.goto(`/fleets/${fleet}/resources/clusters/idle`);
  await load.getByText("No proxy has reported requests to this cluster in the last hour.").waitFor();
  expect(await barriers(page)).toEqual([]);
  await load.getByRole("link", { name: "reports its load" }).click();
  await page.getByRole("heading", { name: "List what proxies report of their load" }).waitFor();
});
