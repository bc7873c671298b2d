// What becomes of what was typed and is not published.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { apply, cluster, makeFleet, signIn, someone, tokenOf } from "./world";

const editorOf = (page: Page, label: string) => page.getByLabel(label, { exact: true });
/** What the browser keeps of the fleet's drafts, whosever they are. */
const storedText = (page: Page, fleet: string) =>
  page.evaluate((end) => Object.keys(localStorage).filter((k) => k.startsWith("fairlead.draft/") && k.endsWith(end)).map((k) => localStorage.getItem(k)).join(), `/${fleet}`);

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
  await page.getByText(/Changed since you read it, in revision 2/).waitFor();
  const publish = page.getByRole("button", { name: "Publish", exact: true });
  expect(await publish.isDisabled()).toBe(true);
  await page.getByRole("button", { name: "Delete it all the same" }).click();
  await page.locator("button:enabled", { hasText: /^Publish$/ }).waitFor();
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

const oneCluster = (name: string) => `static_resources:\n  clusters:\n  - {name: ${name}, type: STATIC, connect_timeout: 1s}\n`;

test("a pipeline's token may fix what it has put into the draft", async () => {
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

test("a draft is its author's: another person on the same browser does not see it, and it is there when its author comes back", async () => {
  const fleet = await makeFleet();
  const [ann, ben] = [await tokenOf("editor"), await tokenOf("editor")];
  await apply(fleet, [cluster("cart")]);
  const page = await someone();
  await signIn(page, `/fleets/${fleet}/resources/clusters/cart`, ann);
  await editorOf(page, "Document of cluster cart").click();
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.insertText("# of ann alone\n");
  await page.getByText("edited, not published").waitFor();
  expect(await storedText(page, fleet)).toContain("# of ann alone");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("API token").waitFor();
  await signIn(page, `/fleets/${fleet}/draft`, ben);
  await page.getByText("There are no edits").waitFor();
  expect(await storedText(page, fleet)).toContain("# of ann alone"); // it waits for its author
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("API token").waitFor();
  await signIn(page, `/fleets/${fleet}/draft`, ann);
  await page.getByRole("region", { name: "clusters/cart" }).waitFor();
  // Ben signs in in another tab, while the draft of Ann is on screen in this one.
  const other = await page.context().newPage();
  await other.goto("/");
  await other.getByRole("button", { name: "Sign out" }).click();
  await other.getByLabel("API token").waitFor();
  await signIn(other, "/", ben);
  await page.getByText("There are no edits").waitFor();
});
