// How long the page takes on a machine that does nothing else; "make bench-page" runs it.
import { expect, test } from "vitest";
import type { Node, NodeList } from "../../clients/typescript/src/schema";
import { apply, cluster, makeFleet, ready, signIn, someone, tenant } from "./world";

test("the overview can be used within 1.5 s", async () => {
  const page = await someone();
  await signIn(page);
  await page.goto("about:blank");
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  await page.goto(`/fleets/${ready.fleet}`);
  await page.getByRole("region", { name: "Revisions" }).getByRole("link").first().waitFor();
  expect(await page.evaluate(() => performance.now()), "ms until the overview is there").toBeLessThan(1500);
});

/** 5,000 nodes as the API would list them: a page by the cursor, which is where it goes on. */
function pageOfNodes(from: number, limit: number): NodeList {
  const items = Array.from({ length: Math.min(limit, 5000 - from) }, (_, i): Node => {
    const n = from + i;
    const at = "2026-01-02T03:04:05Z";
    const refuses = n % 50 === 7;
    return {
      id: `edge-${String(n).padStart(5, "0")}`, state: refuses ? "refusing" : n % 9 === 0 ? "offline" : "live", settled: 1, server: "xds-1", streams: 1, cluster: "edge",
      user_agent: "envoy", version: "1.40.0", protocol: "delta ADS", first_seen: at, last_seen: at, since: at,
      refusals: refuses ? [{ type: "clusters", name: "payments", version: "1", revision: 1, detail: "cluster provided LB specified but cluster 'payments' did not provide one", at }] : [],
    };
  });
  const next = from + limit;
  return { items, ...(next < 5000 ? { next_cursor: String(next) } : {}) };
}

test("5,000 nodes are gone through without a task over 100 ms", async () => {
  const fleet = await makeFleet();
  await apply(fleet, [cluster("payments")]);
  const page = await someone();
  // A fleet of 5,000 proxies does not fit beside a browser: the list of nodes alone is played.
  await page.route(`**/v1/tenants/${tenant}/fleets/${fleet}/nodes?*`, async (route) => {
    const asked = new URL(route.request().url()).searchParams;
    await route.fulfill({ json: pageOfNodes(Number(asked.get("cursor") ?? "0"), Number(asked.get("limit") ?? "100")) });
  });
  await signIn(page, `/fleets/${fleet}/nodes`);
  await page.getByText("edge-00000", { exact: true }).waitFor();
  await page.evaluate(() => {
    const long: number[] = [];
    Object.assign(window, { long });
    new PerformanceObserver((list) => long.push(...list.getEntries().map((e) => e.duration))).observe({ type: "longtask" });
  });
  for (let seen = 0; ; seen++) {
    for (let i = 0; i < 10; i++) {
      await page.mouse.wheel(0, 1200);
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    }
    const next = page.getByRole("button", { name: /next/i }).or(page.getByRole("link", { name: /next/i })).first();
    if (!(await next.isEnabled().catch(() => false))) {
      expect(seen, "pages gone through").toBeGreaterThan(20);
      break;
    }
    await next.click();
    await page.locator('[data-old="false"]').waitFor();
  }
  await page.getByText("edge-04999", { exact: true }).waitFor();
  const long = await page.evaluate(() => ("long" in window && Array.isArray(window.long) ? window.long.filter((n): n is number => typeof n === "number") : []));
  expect(long.filter((ms) => ms > 100), "tasks over 100 ms").toEqual([]);
});
