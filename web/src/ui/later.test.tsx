import { MantineProvider } from "@mantine/core";
import { QueryClientProvider, useQuery } from "@tanstack/react-query";
import { act, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { Suspense, type ReactNode } from "react";
import { expect, test, vi } from "vitest";
import { queryClient } from "../api/follow";
import { follow } from "../api/live";
import { server } from "../test/server";
import { later } from "./later";

const part = () => <p>the part</p>;

async function show(load: () => Promise<typeof part>, beside?: ReactNode) {
  const Part = later(load);
  await act(() => Promise.resolve(render(
    <MantineProvider env="test">
      <QueryClientProvider client={queryClient}>
        <Suspense fallback="coming">
          <Part />
        </Suspense>
        {beside}
      </QueryClientProvider>
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

test("what did not come comes by itself when the server is back, and so does a question that failed or was never answered", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let heartbeat: (() => void) | undefined;
  vi.stubGlobal("EventSource", class {
    readyState = 1;
    addEventListener(_: string, f: () => void) {
      heartbeat = f;
    }
    close() {}
  });
  vi.stubGlobal("BroadcastChannel", class {
    postMessage() {}
    close() {}
  });
  server.use(http.get(location.origin, () => HttpResponse.error()));
  let away = true;
  const questions = { failed: 0, hung: 0 };
  const Asks = () => {
    const failed = useQuery({ queryKey: ["failed"], retry: false, queryFn: () => (questions.failed++ === 0 ? Promise.reject(new Error("no")) : Promise.resolve("the failed one")) });
    const hung = useQuery({ queryKey: ["hung"], queryFn: () => (questions.hung++ === 0 ? new Promise<string>(() => undefined) : Promise.resolve("the hung one")) });
    return <p>{`${failed.data ?? "nothing"}, ${hung.data ?? "nothing"}`}</p>;
  };
  const end = follow(undefined, undefined, () => Promise.resolve(!away));
  try {
    heartbeat?.();
    await show(() => (away ? Promise.reject(new TypeError("Failed to fetch")) : Promise.resolve(part)), <Asks />);
    await act(() => vi.advanceTimersByTimeAsync(13_000));
    expect(screen.getByRole("alert").textContent).toContain("The server does not answer");
    expect(screen.getByText("nothing, nothing")).toBeTruthy();
    away = false;
    await act(() => vi.advanceTimersByTimeAsync(10_000));
    vi.useRealTimers();
    expect(await screen.findByText("the part")).toBeTruthy();
    expect(screen.getByText("the failed one, the hung one")).toBeTruthy();
  } finally {
    end();
    vi.useRealTimers();
    vi.unstubAllGlobals();
    queryClient.clear();
  }
});

test("what was asked of a server that stood still, and fails only when it is back, comes by itself", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let heartbeat: (() => void) | undefined;
  vi.stubGlobal("EventSource", class {
    readyState = 1;
    addEventListener(_: string, f: () => void) {
      heartbeat = f;
    }
    close() {}
  });
  vi.stubGlobal("BroadcastChannel", class {
    postMessage() {}
    close() {}
  });
  server.use(http.get(location.origin, () => HttpResponse.text("<html></html>")));
  let away = true;
  let lost: ((why: Error) => void) | undefined;
  const end = follow(undefined, undefined, () => Promise.resolve(!away));
  try {
    heartbeat?.();
    await show(() => (lost === undefined ? new Promise((_, fail) => (lost = fail)) : Promise.resolve(part)));
    await act(() => vi.advanceTimersByTimeAsync(13_000));
    expect(screen.getByText("coming")).toBeTruthy();
    away = false;
    await act(() => vi.advanceTimersByTimeAsync(10_000));
    vi.useRealTimers();
    await act(() => Promise.resolve(lost?.(new TypeError("Failed to fetch"))));
    expect(await screen.findByText("the part")).toBeTruthy();
  } finally {
    end();
    vi.useRealTimers();
    vi.unstubAllGlobals();
    queryClient.clear();
  }
});

test("what fails again though the server answers says that a reload may help", async () => {
  server.use(http.get(location.origin, () => HttpResponse.text("<html></html>")));
  await show(() => Promise.reject(new TypeError("Failed to fetch")));
  const again = await screen.findByRole("button", { name: "Try again" });
  expect(screen.queryByRole("button", { name: "Reload the page" })).toBeNull();
  await userEvent.click(again);
  expect(await screen.findByRole("button", { name: "Reload the page" })).toBeTruthy();
});
