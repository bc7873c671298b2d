// Typing into the editor.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { apply, cluster, makeFleet, signIn, someone } from "./world";

const editorOf = (page: Page, label: string) => page.getByLabel(label, { exact: true });

async function empty(page: Page, label: string) {
  await editorOf(page, label).click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("Delete");
}

test("a JSON document can be emptied and typed anew", async () => {
  const fleet = await makeFleet();
  await apply(fleet, [cluster("cart")]);
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/resources/clusters/cart?format=json`);
  await page.locator(".cm-line", { hasText: "{" }).first().waitFor();
  await empty(page, "Document of cluster cart");
  await page.keyboard.type('{"name": "cart"}');
  expect(await page.locator(".cm-content").first().textContent()).toContain('"cart"');
});

test("JSON that is pasted over YAML can be undone", async () => {
  const fleet = await makeFleet();
  await apply(fleet, [cluster("cart")]);
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/resources/clusters/cart`);
  await empty(page, "Document of cluster cart");
  await page.keyboard.insertText('{"wrong": true}');
  for (let i = 0; i < 4; i++) await page.keyboard.press("ControlOrMeta+z");
  expect(await page.locator(".cm-content").first().textContent()).toContain("connect_timeout");
});
