// What becomes of what was typed and is not published.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { apply, cluster, makeFleet, signIn, someone, tenant } from "./world";

const editorOf = (page: Page, label: string) => page.getByLabel(label, { exact: true });
const storedText = (page: Page, fleet: string) => page.evaluate((key) => localStorage.getItem(key) ?? "", `fairlead.draft/${tenant}/${fleet}`);

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
