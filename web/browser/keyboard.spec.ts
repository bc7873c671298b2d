// What the keyboard does wherever one is.
import { test } from "vitest";
import { apply, cluster, makeFleet, ready, signIn, someone } from "./world";

test("Ctrl K finds the way from within the editor", async () => {
  const fleet = await makeFleet();
  await apply(fleet, [cluster("cart")]);
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/resources/clusters/cart`);
  await page.getByLabel("Document of cluster cart", { exact: true }).click();
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("textbox", { name: "Go to" }).waitFor({ timeout: 5000 });
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: "Go to" }).waitFor({ state: "detached" });
  await page.keyboard.press("ControlOrMeta+k"); // again, now that it has come
  await page.getByRole("textbox", { name: "Go to" }).waitFor({ timeout: 5000 });
});

test("Ctrl K finds the way from within a field", async () => {
  const page = await someone();
  await signIn(page, `/fleets/${ready.fleet}/resources`);
  await page.getByRole("textbox").first().click();
  await page.keyboard.press("ControlOrMeta+k");
  await page.getByRole("textbox", { name: "Go to" }).waitFor({ timeout: 5000 });
});
