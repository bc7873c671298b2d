import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openStream } from "./stream";

const streams: Stream[] = [];
class Stream {
  static CLOSED = 2;
  static OPEN = 1;
  readyState = 1;
  closed = false;
  heartbeat: (() => void) | undefined;
  onmessage: ((e: { data: string }) => void) | undefined;
  onerror: (() => void) | undefined;
  constructor() {
    streams.push(this);
  }
  addEventListener(_: "heartbeat", f: () => void) {
    this.heartbeat = f;
  }
  close() {
    this.closed = true;
  }
}

let answers = true;
let said: string[];
let end: () => void;
beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", Stream);
  answers = true;
  said = [];
  streams.length = 0;
  end = openStream("/v1/live", () => Promise.resolve(answers), {
    missed: false,
    state: (s) => said.push(s),
    heard: () => undefined,
    changed: (what) => said.push(`changed ${what?.join() ?? "all"}`),
    trouble: () => undefined,
  });
});
afterEach(() => {
  end();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test("a stream is live by what it tells, and for as long as it tells something", async () => {
  expect(said).toEqual([]);
  streams[0]?.heartbeat?.();
  for (let i = 0; i < 20; i++) {
    await wait(5000);
    streams[0]?.heartbeat?.();
  }
  streams[0]?.onmessage?.({ data: '{"what":["nodes"]}' });
  expect(said).toEqual(["live", "changed nodes"]);
  expect(streams).toHaveLength(1);
});

test("over a server that stands still the page is stale, and goes on by itself when it is back", async () => {
  streams[0]?.heartbeat?.();
  answers = false;
  await wait(12_000);
  expect(said).toEqual(["live", "offline", "offline"]);
  expect(streams[0]?.closed).toBe(true);
  await wait(60_000);
  expect(streams).toHaveLength(1); // a server that does not answer is asked, and not held
  answers = true;
  await wait(5000);
  expect(said.slice(-2)).toEqual(["polling", "changed all"]);
  streams[1]?.heartbeat?.();
  expect(said.slice(-2)).toEqual(["live", "changed all"]);
});

test("a stream that is lost under a server that answers is begun again at once", async () => {
  streams[0]?.heartbeat?.();
  await wait(12_000);
  expect(said).toEqual(["live", "offline", "polling", "changed all"]);
  expect(streams).toHaveLength(2);
});

test("where something on the way holds the stream back the page asks, and is never called live", async () => {
  await wait(12_000);
  expect(said).toEqual(["polling", "changed all"]);
  expect(streams).toHaveLength(1);
  await wait(20_000);
  expect(streams).toHaveLength(2);
  expect(said).not.toContain("live");
  expect(said).not.toContain("offline");
});
