// Writes a cluster to a fleet, which it makes if there is none of that name, waits until the proxies have answered,
// and prints who took it:
//
//     FAIRLEAD_URL=http://127.0.0.1:8080 FAIRLEAD_TOKEN=fla_... FAIRLEAD_TENANT=acme node dist/example/main.js FLEET CLUSTER TIMEOUT [REVISION]
//
// REVISION is the one that the fleet must be at; left out, it is the one that the fleet is at now.
import { check, connect, type ApplyInput } from "../src/index.js";

const { FAIRLEAD_URL: url = "", FAIRLEAD_TOKEN: token = "", FAIRLEAD_TENANT: tenant = "" } = process.env;
const api = connect(url, token);

/** Returns the revision that the fleet is at. A fleet that is not there is made. */
async function open(fleet: string): Promise<number> {
  const found = await api.GET("/v1/tenants/{tenant}/fleets/{fleet}", { params: { path: { tenant, fleet } } });
  if (found.response.status !== 404) {
    const { revision } = check(found);
    console.log(`fleet ${fleet} is at revision ${revision}`);
    return revision;
  }
  const made = check(await api.POST("/v1/tenants/{tenant}/fleets", { params: { path: { tenant } }, body: { name: fleet } }));
  console.log(`fleet ${fleet} is new`);
  return made.revision;
}

/** Writes a cluster if the fleet is still at the expected revision, and returns the new one. */
async function apply(fleet: string, cluster: string, timeout: string, expected: number): Promise<number> {
  const body: ApplyInput = {
    message: "written by the example",
    expected_revision: expected,
    resources: [{ type: "clusters", name: cluster, body: { name: cluster, type: "STATIC", connect_timeout: timeout } }],
  };
  const { revision, changed } = check(
    await api.POST("/v1/tenants/{tenant}/fleets/{fleet}/apply", { params: { path: { tenant, fleet } }, body }),
  );
  console.log(`revision ${revision}: ${changed} changed`);
  return revision;
}

/** Waits until no node is asked for an answer any more, and prints who has the revision. */
async function receipt(fleet: string, revision: number): Promise<void> {
  const path = { tenant, fleet, revision: String(revision) };
  const { state, nodes } = check(
    await api.GET("/v1/tenants/{tenant}/fleets/{fleet}/revisions/{revision}/receipt", { params: { path, query: { wait: "30s" } } }),
  );
  for (const node of nodes) {
    if (node.detail !== undefined) {
      console.log(`${node.id} ${node.state}: ${node.detail}`);
    }
  }
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page = check(
      await api.GET("/v1/tenants/{tenant}/fleets/{fleet}/revisions/{revision}/receipt", {
        params: { path, query: { state: "acked", ...(cursor === undefined ? {} : { cursor }) } },
      }),
    );
    names.push(...page.nodes.map((node) => node.id));
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  console.log(`revision ${revision} is ${state}; ACKed by ${names.length}: ${names.join(" ")}`);
  if (state !== "delivered" && state !== "stored") {
    throw new Error(`revision ${revision} is not everywhere`);
  }
}

const [fleet, cluster, timeout, at] = process.argv.slice(2);
if (fleet === undefined || cluster === undefined || timeout === undefined) {
  console.error("usage: main.js FLEET CLUSTER TIMEOUT [REVISION]");
  process.exit(2);
}
try {
  const revision = await open(fleet);
  await receipt(fleet, await apply(fleet, cluster, timeout, at === undefined ? revision : Number(at)));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
