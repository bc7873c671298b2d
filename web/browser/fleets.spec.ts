// The first page.
import { expect, test } from "vitest";
import { ready, signIn, someone } from "./world";

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
