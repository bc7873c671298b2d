import { expect, test } from "vitest";
import { api, ready, signIn, someone, tenant, tokenOf } from "./world";

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
