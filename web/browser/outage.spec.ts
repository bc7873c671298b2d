// The server is away, or another one by now: the page stays, says so, and goes on by itself or when it is told to.
import { connect, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { apply, cluster, freePort, makeFleet, ready, signIn, someone } from "./world";

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
  await page.getByRole("button", { name: "Try again" }).first().click();
  await page.getByRole("heading", { level: 1, name: "Topology" }).waitFor();
  expect(await page.evaluate(() => document.body.getAttribute("data-same"))).toBe("yes");
});

test("a view whose look did not come either has it when it is tried again", async () => {
  const page = await someone();
  await signIn(page, `/fleets/${ready.fleet}/resources`);
  await page.route("**/assets/nodes-*", (r) => r.abort());
  await page.getByRole("link", { name: "Nodes" }).click();
  const again = page.getByRole("button", { name: "Try again" });
  await again.waitFor();
  await page.unroute("**/assets/nodes-*");
  await again.click();
  await page.getByRole("link", { name: ready.node_id }).first().waitFor();
  expect(await page.evaluate(() => [...document.styleSheets].some((s) => s.href?.includes("/assets/nodes-") && s.cssRules.length > 0))).toBe(true);
});

test("a page whose server has a newer one by now loads it once, at the view that was asked for", async () => {
  const page = await someone();
  await signIn(page, `/fleets/${ready.fleet}/resources`);
  await page.evaluate(() => document.body.setAttribute("data-same", "yes"));
  await page.route("**/assets/topology-*.js", (r) => r.fulfill({ status: 404 }));
  await page.route(`${ready.api_url}/`, (r) => r.fulfill({ status: 200, contentType: "text/html", body: "<script type=module src=/assets/index-newer.js></script>" }));
  const reloaded = page.waitForEvent("load");
  await page.getByRole("link", { name: "Topology" }).click();
  await reloaded;
  expect(new URL(page.url()).pathname).toBe(`/fleets/${ready.fleet}/topology`);
  await page.getByText("A newer version of this page is installed.", { exact: false }).waitFor(); // it is not: no second reload
  await page.unrouteAll();
  await page.getByRole("button", { name: "Reload the page" }).click();
  await page.getByRole("heading", { level: 1, name: "Topology" }).waitFor();
});

test("sign out without a server says that it did not work", async () => {
  const page = await someone();
  await signIn(page);
  await page.context().setOffline(true);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("alert").getByText(/does not answer/).waitFor({ timeout: 5000 });
  await page.context().setOffline(false);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("API token").waitFor();
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

/** A way to the API server on which nothing moves while it stands still. Its connections stay open. */
async function standingWay() {
  const to = new URL(ready.api_url);
  const port = await freePort();
  const sockets = new Set<Socket>();
  let still = false;
  const server = createServer((near) => {
    const far = connect(Number(to.port), to.hostname);
    for (const [one, other] of [[near, far], [far, near]] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
      if (still) one.pause();
    }
  });
  await new Promise<void>((listens) => server.listen(port, "127.0.0.1", listens));
  return {
    url: `http://127.0.0.1:${port}`,
    stand: (on: boolean) => {
      still = on;
      for (const s of sockets) if (on) s.pause(); else s.resume();
    },
    close: () => {
      for (const s of sockets) s.destroy();
      return new Promise((closed) => server.close(closed));
    },
  };
}

test("over a server that stands still the page says since when it is stale, and goes on by itself", async () => {
  const fleet = await makeFleet();
  await apply(fleet, [cluster("cart")]);
  const way = await standingWay();
  try {
    const page = await someone();
    await signIn(page, `${way.url}/fleets/${fleet}/resources`);
    await page.getByText("live", { exact: true }).waitFor();
    way.stand(true);
    await page.getByRole("link", { name: "History" }).click(); // what is asked now is never answered
    await page.getByText(/^stale since \d/).waitFor({ timeout: 20_000 });
    way.stand(false);
    await page.getByText("live", { exact: true }).waitFor({ timeout: 20_000 });
    await page.getByRole("heading", { level: 1, name: "History" }).waitFor();
    await page.getByRole("link", { name: /^1$|Revision 1/ }).first().waitFor();
  } finally {
    await way.close();
  }
});
