import { expect, test } from "vitest";
import { api, apply, cluster, makeFleet, ready, signIn, someone, tenant, tokenOf } from "./world";

test("one signs in with a token, which is not kept in the tab, and comes back to the address", async () => {
  const page = await someone();
  await signIn(page, `/fleets/${ready.fleet}`);
  expect(new URL(page.url()).pathname).toBe(`/fleets/${ready.fleet}`);
  expect(await page.evaluate(() => JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie]))).not.toContain("fla_");
  await page.reload();
  await page.getByRole("link", { name: "Nodes" }).first().waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("API token").waitFor();
});

test("a wrong token is told in words", async () => {
  const page = await someone();
  await page.goto("/");
  await page.getByLabel("API token").fill("fla_wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("This token is not taken").waitFor();
});

test("a session that is ended elsewhere signs out within 5 s, on every page", async () => {
  const token = await tokenOf("editor");
  for (const address of ["/", `/fleets/${ready.fleet}`]) {
    const page = await someone();
    await signIn(page, address, token);
    await page.getByText("live", { exact: true }).waitFor();
    const { data } = await api.GET("/v1/tenants/{tenant}/sessions", { params: { path: { tenant } } });
    const mine = data?.items.filter((s) => s.token.name.startsWith("test-editor")) ?? [];
    expect(mine.length).toBeGreaterThan(0);
    await Promise.all(mine.map((s) => api.DELETE("/v1/tenants/{tenant}/sessions/{id}", { params: { path: { tenant, id: s.id } } })));
    await page.getByText("The session has ended.").waitFor({ timeout: 5000 });
  }
});

test("an idle tab asks nothing but its event stream", async () => {
  const page = await someone();
  await signIn(page, `/fleets/${ready.fleet}`);
  await page.getByText("live", { exact: true }).waitFor();
  await page.waitForLoadState("load");
  await page.evaluate(() => new Promise((done) => setTimeout(done, 2000))); // what is asked at first has been answered
  const asked: string[] = [];
  page.on("request", (r) => asked.push(r.url()));
  await page.evaluate(() => new Promise((done) => setTimeout(done, 8000)));
  expect(asked).toEqual([]);
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
  await page.getByLabel("Document of cluster cart", { exact: true }).waitFor({ timeout: 5000 });
});

test("seven tabs are not too many", async () => {
  const page = await someone();
  await signIn(page, `/fleets/${ready.fleet}`, await tokenOf("editor"));
  for (let i = 0; i < 6; i++) {
    const tab = await page.context().newPage();
    await tab.goto(`/fleets/${ready.fleet}/nodes`);
    await tab.getByRole("link", { name: ready.node_id }).first().waitFor();
    await tab.getByRole("banner").getByText("live", { exact: true }).waitFor();
  }
  const { data } = await api.GET("/v1/tenants/{tenant}/sessions", { params: { path: { tenant } } });
  await Promise.all((data?.items ?? []).filter((s) => s.token.name.startsWith("test-editor")).map((s) => api.DELETE("/v1/tenants/{tenant}/sessions/{id}", { params: { path: { tenant, id: s.id } } })));
  await Promise.all(page.context().pages().map((tab) => tab.getByText("The session has ended.").waitFor({ timeout: 5000 })));
});

test("the tab that holds the stream may go: another one is told of what changes", async () => {
  const fleet = await makeFleet();
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/resources`);
  await page.getByText("live", { exact: true }).waitFor();
  const other = await page.context().newPage();
  await other.goto(`/fleets/${fleet}/resources`);
  await other.getByText("live", { exact: true }).waitFor();
  await apply(fleet, [cluster("told")]);
  await other.getByRole("link", { name: "told" }).first().waitFor({ timeout: 5000 });
  await page.close();
  await apply(fleet, [cluster("after")]);
  await other.getByRole("link", { name: "after" }).first().waitFor({ timeout: 5000 });
});

test("a hidden tab has no stream and asks nothing, and is told all when it is seen again", async () => {
  const fleet = await makeFleet();
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/resources`);
  await page.getByText("live", { exact: true }).waitFor();
  const see = (hidden: boolean) =>
    page.evaluate((h) => {
      Object.defineProperty(document, "hidden", { configurable: true, value: h });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  await see(true);
  await page.getByText("connecting", { exact: true }).waitFor();
  const asked: string[] = [];
  page.on("request", (r) => asked.push(r.url()));
  await apply(fleet, [cluster("meanwhile")]);
  await page.evaluate(() => new Promise((done) => setTimeout(done, 3000)));
  expect(asked).toEqual([]);
  await see(false);
  await page.getByRole("link", { name: "meanwhile" }).first().waitFor({ timeout: 5000 });
});
