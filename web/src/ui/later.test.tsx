import { MantineProvider } from "@mantine/core";
import { act, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { Suspense } from "react";
import { expect, test } from "vitest";
import { server } from "../test/server";
import { later } from "./later";

const part = () => <p>the part</p>;

async function show(load: () => Promise<typeof part>) {
  const Part = later(load);
  await act(() => Promise.resolve(render(
    <MantineProvider env="test">
      <Suspense fallback="coming">
        <Part />
      </Suspense>
    </MantineProvider>,
  )));
}

test("what does not come without a server comes when it is tried again", async () => {
  server.use(http.get(location.origin, () => HttpResponse.error()));
  let away = true;
  await show(() => (away ? Promise.reject(new TypeError("Failed to fetch")) : Promise.resolve(part)));
  expect((await screen.findByRole("alert")).textContent).toContain("The server does not answer");
  away = false;
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(await screen.findByText("the part")).toBeTruthy();
  expect(screen.queryByRole("alert")).toBeNull();
});

test("what fails again though the server answers says that a reload may help", async () => {
  server.use(http.get(location.origin, () => HttpResponse.text("<html></html>")));
  await show(() => Promise.reject(new TypeError("Failed to fetch")));
  const again = await screen.findByRole("button", { name: "Try again" });
  expect(screen.queryByRole("button", { name: "Reload the page" })).toBeNull();
  await userEvent.click(again);
  expect(await screen.findByRole("button", { name: "Reload the page" })).toBeTruthy();
});
