// What the page costs whoever opens it: the production build, as the server serves it.
import { expect, test } from "vitest";
import { ready, signIn, someone } from "./world";

test("the first script is at most 200 KB, compressed", async () => {
  const page = await someone();
  await signIn(page);
  await page.goto("about:blank");
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  const scripts = new Set<string>();
  let bytes = 0;
  session.on("Network.responseReceived", (e) => {
    if (e.type === "Script") scripts.add(e.requestId);
  });
  session.on("Network.loadingFinished", (e) => {
    if (scripts.has(e.requestId)) bytes += e.encodedDataLength;
  });
  await page.goto(`/fleets/${ready.fleet}`);
  await page.getByRole("region", { name: "Revisions" }).getByRole("link").first().waitFor();
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes, "bytes of script until the overview is there, its chart left out if it came later").toBeLessThanOrEqual(200 * 1024);
});
