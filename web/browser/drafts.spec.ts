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
