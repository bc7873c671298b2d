// T23: whatever somebody wrote into a name, a label, a message, a node's id or its words stays text. A dialog, an error or a report of the
// page's policy fails the test (world.ts).
import { expect, test } from "vitest";
import { api, apply, cluster, makeFleet, signIn, someone, startEnvoy, tenant, unique } from "./world";

const corpus = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(2)>",
  '"><svg/onload=alert(3)>',
  "javascript:alert(4)",
  "{{constructor.constructor('alert(5)')()}}",
  "</style><script>alert(6)</script>",
  "'-alert(7)-'",
  "<a href=javascript:alert(8)>x</a>",
];

test("what anybody wrote stays text", { timeout: 240_000 }, async () => {
  const fleet = await makeFleet(`hostile-${unique()}`);
  const text = corpus.join(" ");
  await api.PATCH("/v1/tenants/{tenant}/fleets/{fleet}", { params: { path: { tenant, fleet } }, body: { description: text } });
  const node = `edge ${corpus[1] ?? ""}`;
  await startEnvoy(fleet, node, { metadata: { name: corpus[0] ?? "", [corpus[2] ?? ""]: text } });
  for (const [i, bad] of corpus.entries()) {
    await apply(fleet, [{ ...cluster(`c${i} ${bad}`, { lb_policy: i < 2 ? "CLUSTER_PROVIDED" : "ROUND_ROBIN" }), labels: { note: bad, [bad]: "x" }, description: bad }], bad);
  }
  const page = await someone();
  await signIn(page, `/fleets/${fleet}`);
  await page.getByText("refus", { exact: false }).first().waitFor();
  const name = encodeURIComponent(`c0 ${corpus[0] ?? ""}`);
  for (const address of [
    "/", "/audit", "/settings", `/fleets/${fleet}`, `/fleets/${fleet}/nodes`, `/fleets/${fleet}/nodes/${encodeURIComponent(node)}`, `/fleets/${fleet}/resources`,
    `/fleets/${fleet}/resources/clusters/${name}`, `/fleets/${fleet}/history`, `/fleets/${fleet}/history/1`, `/fleets/${fleet}/compare?from=1&to=8`, `/fleets/${fleet}/rollback/1`,
    `/fleets/${fleet}/findings`, `/fleets/${fleet}/events`, `/fleets/${fleet}/topology`, `/fleets/${fleet}/topology?view=list`, `/fleets/${fleet}/export`, `/fleets/${fleet}/settings`,
    `/fleets/${fleet}/nodes?prefix=${encodeURIComponent(text)}`, `/fleets/${encodeURIComponent(corpus[0] ?? "")}`,
  ]) {
    await page.goto(address);
    await page.locator("#main").waitFor();
    await page.locator('[aria-busy="true"]').first().waitFor({ state: "detached" });
    expect(await page.locator("#root script, #root img[src='x'], #root svg[onload], #root a[href^='javascript:']").count()).toBe(0);
  }
});
