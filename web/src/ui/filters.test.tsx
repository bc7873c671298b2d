import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test } from "vitest";
import { FilterFold } from "./filters";

const fold = (set: number) => render(<MantineProvider><FilterFold set={set}><input aria-label="Name" /></FilterFold></MantineProvider>);

test("filters that nobody has set are folded until they are asked for", async () => {
  fold(0);
  const button = screen.getByRole("button", { name: "Filter" });
  expect(button.getAttribute("aria-expanded")).toBe("false");
  await userEvent.click(button);
  expect(button.getAttribute("aria-expanded")).toBe("true");
  expect(document.getElementById(button.getAttribute("aria-controls") ?? "")?.contains(screen.getByLabelText("Name"))).toBe(true);
});

test("those that are set are open, and counted", () => {
  fold(2);
  expect(screen.getByRole("button", { name: "Filter (2)" }).getAttribute("aria-expanded")).toBe("true");
});
