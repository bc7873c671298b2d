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

test("the link to a line leads to the line", async () => {
  const fleet = await makeFleet();
  const endpoint = (i: number) => ({ endpoint: { address: { socket_address: { address: `10.0.0.${i}`, port_value: 80 } } } });
  await apply(fleet, [cluster("long", { load_assignment: { cluster_name: "long", endpoints: [{ lb_endpoints: Array.from({ length: 60 }, (_, i) => endpoint(i + 1)) }] } })]);
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/resources/clusters/long`);
  await editorOf(page, "Document of cluster long").click();
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.insertText("  no_such_field: 1\n");
  await page.getByText("edited, not published").waitFor();
  await page.getByRole("link", { name: "Review and publish" }).click();
  await page.getByRole("link", { name: /^line \d+$/ }).first().click();
  await page.waitForURL(/line=\d+/);
  await page.locator(".cm-line", { hasText: "no_such_field" }).waitFor({ timeout: 5000 });
});
