// What a newcomer ran into. Each of these failed when it was written.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { apply, cluster, makeFleet, ready, signIn, someone, tenant, tokenOf } from "./world";

const editorOf = (page: Page, label: string) => page.getByLabel(label, { exact: true });
const storedText = (page: Page, fleet: string) => page.evaluate((key) => localStorage.getItem(key) ?? "", `fairlead.draft/${tenant}/${fleet}`);

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

test("a browser that has no room for the draft says so", async () => {
  const fleet = await makeFleet();
  await apply(fleet, [cluster("cart")]);
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/resources/clusters/cart`);
  await editorOf(page, "Document of cluster cart").waitFor();
  await page.evaluate(() => {
    for (const size of [1_000_000, 10_000, 100, 1]) {
      for (let i = 0; ; i++) {
        try {
          localStorage.setItem(`fill/${size}/${i}`, "x".repeat(size));
        } catch {
          break;
        }
      }
    }
  });
  await editorOf(page, "Document of cluster cart").click();
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.insertText("# typed at three in the morning\n");
  await page.getByText("edited, not published").waitFor();
  expect(await storedText(page, fleet)).toBe("");
  await page.getByText(/not kept|no room|cannot keep|only in this tab|reload/i).first().waitFor({ timeout: 5000 });
});

test("a deletion of what somebody changed meanwhile is not published unseen", async () => {
  const fleet = await makeFleet();
  await apply(fleet, [cluster("cart")]);
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/resources/clusters/cart`);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByText("To be deleted").waitFor();
  await page.goto("/settings");
  await apply(fleet, [cluster("cart", { connect_timeout: "7s" })], "Ben's");
  await page.goto(`/fleets/${fleet}/draft`);
  await page.getByText("What it would do").waitFor();
  await page.getByRole("button", { name: /^Publish( all the same)?$/ }).waitFor();
  expect(await page.getByText(/Changed since you read it|Others have changed/).count()).toBeGreaterThan(0);
});

test("all fleets: the filter's field is empty when there is no filter", async () => {
  const page = await someone();
  await signIn(page);
  const field = page.getByLabel("Only fleets whose name begins with");
  await field.fill("zzz");
  await page.getByText("No fleet begins with").waitFor();
  await page.getByRole("link", { name: "All fleets", exact: true }).click();
  await page.getByRole("link", { name: ready.fleet, exact: true }).waitFor();
  expect(await field.inputValue()).toBe("");
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

test("a pipeline's token may mend what it has put into the draft", async () => {
  const fleet = await makeFleet();
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/import`, await tokenOf("ci", fleet));
  await page.getByLabel("Bootstrap or config dump, YAML or JSON").fill(oneCluster("legacy"));
  await page.getByRole("button", { name: "Show what would be taken over" }).click();
  await page.getByRole("button", { name: /into the draft/ }).click();
  await page.waitForURL(/\/draft/);
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  const editor = editorOf(page, "Document of cluster legacy");
  await editor.waitFor();
  expect(await editor.getAttribute("contenteditable")).toBe("true");
});

test("an edit that is dropped by a slip of the mouse can be had back", async () => {
  const fleet = await makeFleet();
  await apply(fleet, [cluster("cart")]);
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/resources/clusters/cart`);
  await editorOf(page, "Document of cluster cart").click();
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.insertText("# typed at three in the morning\n");
  await page.getByText("edited, not published").waitFor();
  await page.getByRole("link", { name: "Review and publish" }).click();
  await page.getByRole("button", { name: /^Drop the edit of/ }).click();
  await page.getByRole("button", { name: /undo|bring .*back|keep|drop it/i }).first().waitFor({ timeout: 5000 });
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
