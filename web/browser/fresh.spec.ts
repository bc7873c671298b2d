// What a newcomer ran into. Each of these failed when it was written.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { apply, cluster, makeFleet, ready, signIn, someone, tokenOf } from "./world";

const editorOf = (page: Page, label: string) => page.getByLabel(label, { exact: true });

test("a server that is gone for a while takes no page away: what was typed into this tab stays", async () => {
  const fleet = await makeFleet();
  await apply(fleet, [cluster("cart")]);
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/resources`);
  await page.getByRole("link", { name: "cart" }).first().waitFor();
  await page.evaluate(() => document.body.setAttribute("data-same", "yes"));
  await page.context().setOffline(true);
  await page.getByRole("link", { name: "Topology" }).click();
  await page.getByRole("link", { name: "Resources" }).waitFor(); // the page is still there, and says what is wrong
  await page.getByRole("alert").first().waitFor();
  await page.context().setOffline(false);
  expect(await page.evaluate(() => document.body.getAttribute("data-same"))).toBe("yes");
});

test("seven tabs are not too many", async () => {
  const page = await someone();
  await signIn(page, `/fleets/${ready.fleet}`);
  for (let i = 0; i < 6; i++) {
    const tab = await page.context().newPage();
    await tab.goto(`/fleets/${ready.fleet}/nodes`);
    await tab.getByRole("link", { name: ready.node_id }).first().waitFor();
  }
});

test("sign out without a server says that it did not work", async () => {
  const page = await someone();
  await signIn(page);
  await page.context().setOffline(true);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("alert").getByText(/does not answer/).waitFor({ timeout: 5000 });
});

test("Ctrl K finds the way from within the editor", async () => {
  const fleet = await makeFleet();
  await apply(fleet, [cluster("cart")]);
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/resources/clusters/cart`);
  await editorOf(page, "Document of cluster cart").click();
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("textbox", { name: "Go to" }).waitFor({ timeout: 5000 });
});

test("a key that was typed does not outlive the sign-out", async () => {
  const fleet = await makeFleet();
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/new?kind=secret`);
  await page.getByLabel(/^Name/).fill("tls");
  await page.getByLabel(/^Certificate chain/).fill("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----");
  await page.getByLabel(/^Private key/).fill("-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----");
  await page.getByRole("button", { name: "Make the document" }).click();
  await page.getByRole("button", { name: "Add to the draft" }).click();
  await page.waitForURL(/secrets\/tls/);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("API token").fill(await tokenOf("editor"));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("link", { name: "Draft" }).click();
  await page.getByText("There are no edits").waitFor({ timeout: 5000 });
});

test("a page that was opened while the server was away comes by itself when it is back", async () => {
  const page = await someone();
  await signIn(page, `/fleets/${ready.fleet}`);
  await page.route("**/v1/**", (r) => r.abort());
  await page.reload();
  await page.getByText("The server does not answer.", { exact: false }).first().waitFor();
  await page.unroute("**/v1/**");
  await page.getByRole("link", { name: "Nodes" }).first().waitFor({ timeout: 30_000 });
});

const oneCluster = (name: string) => `static_resources:\n  clusters:\n  - {name: ${name}, type: STATIC, connect_timeout: 1s}\n`;

test("what was pasted into the import is there after a reload", async () => {
  const fleet = await makeFleet();
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/import`);
  const field = page.getByLabel("Bootstrap or config dump, YAML or JSON");
  await field.fill(oneCluster("legacy"));
  await page.reload();
  await field.waitFor();
  expect(await field.inputValue()).toBe(oneCluster("legacy"));
});

test("a session that begins again in another tab lets this one go on", async () => {
  const fleet = await makeFleet();
  await apply(fleet, [cluster("cart")]);
  const token = await tokenOf("editor");
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/resources/clusters/cart`, token);
  const other = await page.context().newPage();
  await other.goto("/");
  await other.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("The session has ended.").waitFor();
  await other.getByLabel("API token").fill(token);
  await other.getByRole("button", { name: "Sign in" }).click();
  await other.getByRole("button", { name: "Sign out" }).waitFor();
  await page.bringToFront();
  await editorOf(page, "Document of cluster cart").waitFor({ timeout: 5000 });
});
