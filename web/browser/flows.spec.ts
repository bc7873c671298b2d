// What people do, each with a real Envoy.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { api, apply, cluster, freePort, makeFleet, ready, runEnvoy, settledAt, signIn, someone, startEnvoy, tenant, tokenOf, unique } from "./world";

/** Writes the whole text of an editor anew. */
async function write(page: Page, label: string, text: string) {
  const editor = page.getByLabel(label, { exact: true });
  await editor.click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete"); // what is typed over a selection Chromium gives a style of its own for an instant, which the policy reports
  await page.keyboard.insertText(text);
}

const document = (name: string, more: string) => `type: clusters
name: ${name}
body:
  name: ${name}
  type: STATIC
  connect_timeout: ${more}
  load_assignment:
    cluster_name: ${name}
`;

async function publish(page: Page, message: string) {
  await page.getByRole("link", { name: "Review and publish" }).click();
  await page.getByLabel("Message").fill(message);
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.waitForURL(/\/history\/\d+/);
}

test("from nothing to a node and a first route", async () => {
  const page = await someone();
  await signIn(page);
  const fleet = `first-${unique()}`;
  await page.getByRole("button", { name: "New fleet" }).click();
  await page.getByLabel("Name", { exact: true }).fill(fleet);
  await page.getByRole("button", { name: /^(Create|Make)/ }).click();
  await page.waitForURL(`**/fleets/${fleet}/connect`);
  const node = `${fleet}-1`;
  await page.getByRole("button", { name: "Make the token" }).click();
  const token = (await page.getByLabel("the node token", { exact: true }).textContent()) ?? "";
  await page.getByLabel("xDS server").fill(ready.xds_address);
  await page.getByLabel("xDS server").blur();
  await page.locator("pre", { hasText: ready.xds_address.split(":")[1] ?? "" }).first().waitFor();
  const bootstrap = (await page.getByLabel("envoy.yaml", { exact: true }).textContent()) ?? "";
  expect(bootstrap).toContain(node);
  expect(bootstrap).not.toContain(token);
  runEnvoy(bootstrap, { FAIRLEAD_NODE_TOKEN: token });
  await page.getByText(`${node} has connected`).or(page.getByText(/has come|is connected|connected/)).first().waitFor();
  await page.getByRole("link", { name: /first (route|listener)/i }).click();
  await page.waitForURL(/new\?kind=listener/);
  await page.getByLabel(/^Name/).fill("ingress");
  await page.getByLabel(/^Address/).fill("127.0.0.1");
  await page.getByLabel(/^Port/).fill(String(await freePort()));
  await page.getByLabel(/^Route configuration/).first().fill("public");
  await page.getByRole("button", { name: "Add to the draft" }).click();
  await page.waitForURL(/listeners\/ingress/);
  for (const [kind, fields] of [["route", { Name: "public", Cluster: "shop" }], ["cluster", { Name: "shop" }], ["endpoints", { Cluster: "shop", Addresses: "127.0.0.1:8081" }]] as const) {
    await page.goto(`/fleets/${fleet}/new?kind=${kind}`);
    for (const [label, text] of Object.entries(fields)) await page.getByLabel(new RegExp(`^${label}`)).first().fill(text);
    await page.getByRole("button", { name: "Add to the draft" }).click();
    await page.waitForURL(/resources\//);
  }
  await publish(page, "the first route");
  await page.getByText("1 of 1 node ACKed", { exact: false }).waitFor();
});

test("an edit is planned, published and ACKed; a poison is red with Envoy's words; it is rolled back", async () => {
  const fleet = await makeFleet();
  await apply(fleet, [cluster("cart"), cluster("other")]);
  await startEnvoy(fleet, "edge-1");
  await settledAt(fleet, "edge-1", 1);
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/resources/clusters/cart`);
  await write(page, "Document of cluster cart", document("cart", "2s"));
  await page.reload(); // nothing typed is lost
  await page.getByText("edited, not published").waitFor();
  await publish(page, "more patience");
  await page.getByText("1 of 1 node ACKed", { exact: false }).waitFor();

  await page.goto(`/fleets/${fleet}/resources/clusters/cart`);
  await write(page, "Document of cluster cart", document("cart", "2s\n  lb_policy: CLUSTER_PROVIDED"));
  await publish(page, "a better policy");
  await page.getByText(/cluster provided LB specified but cluster 'cart' did not provide one/).first().waitFor();
  await page.getByText("1 refused", { exact: false }).first().waitFor();

  const other = await page.context().newPage(); // the line that the words are about
  await other.goto(`/fleets/${fleet}/nodes/edge-1`);
  await other.getByText("lb_policy: CLUSTER_PROVIDED").first().waitFor();
  await other.close();

  await page.getByRole("link", { name: "Roll back to revision 2" }).first().click();
  await page.waitForURL(/\/rollback\/2/);
  await page.getByRole("button", { name: "Roll back", exact: true }).click();
  await page.waitForURL(/\/history\/4/);
  await page.getByText("It changes nothing for 1 node", { exact: false }).first().waitFor(); // it kept that version
});

test("a static Envoy's configuration is imported", async () => {
  const fleet = await makeFleet();
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/import`);
  await page.getByLabel("Bootstrap or config dump, YAML or JSON").fill(`static_resources:
  clusters:
  - name: legacy
    type: STATIC
    connect_timeout: 1s
    load_assignment:
      cluster_name: legacy
`);
  await page.getByRole("button", { name: "Show what would be taken over" }).click();
  await page.getByText("clusters/legacy").first().waitFor();
  await page.getByRole("button", { name: /draft/i }).click();
  await page.waitForURL(/\/draft/);
  await page.getByLabel("Message").fill("from the file");
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.waitForURL(/\/history\/1/);
  const { data } = await api.GET("/v1/tenants/{tenant}/fleets/{fleet}/resources/{type}/{name}", { params: { path: { tenant, fleet, type: "clusters", name: "legacy" } } });
  expect(data?.revision).toBe(1);
});

test("two people edit one resource: the second merges", async () => {
  const fleet = await makeFleet();
  await apply(fleet, [cluster("cart")]);
  const [ada, ben] = await Promise.all([someone(), someone()]);
  for (const page of [ada, ben]) await signIn(page, `/fleets/${fleet}/resources/clusters/cart`);
  await write(ada, "Document of cluster cart", document("cart", "2s"));
  await write(ben, "Document of cluster cart", `description: Ben's\n${document("cart", "1s")}`);
  await publish(ada, "Ada's");
  await ben.getByRole("button", { name: "Merge both" }).click();
  await publish(ben, "Ben's");
  const { data } = await api.GET("/v1/tenants/{tenant}/fleets/{fleet}/resources/{type}/{name}", { params: { path: { tenant, fleet, type: "clusters", name: "cart" } } });
  expect(data).toMatchObject({ description: "Ben's", body: { connect_timeout: "2s" }, revision: 3 });
});

test("a viewer sees all and writes nothing", async () => {
  const fleet = await makeFleet();
  await apply(fleet, [cluster("cart")]);
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/resources/clusters/cart`, await tokenOf("viewer"));
  const editor = page.getByLabel("Document of cluster cart", { exact: true });
  await editor.waitFor();
  expect(await editor.getAttribute("contenteditable")).toBe("false");
  for (const name of ["Delete", "Review and publish"]) expect(await page.getByText(name, { exact: true }).count()).toBe(0);
  await page.goto("/");
  await page.getByRole("link", { name: fleet, exact: true }).waitFor();
  const make = page.getByRole("button", { name: "New fleet" });
  expect((await make.count()) === 0 || (await make.isDisabled())).toBe(true);
});
