import { afterEach, expect, test, vi } from "vitest";
import { share } from "./share";

const open = new Set<Stream>();
class Stream {
  static CLOSED = 2;
  static OPEN = 1;
  readyState = 0;
  heartbeat: (() => void) | undefined;
  addEventListener(_: "heartbeat", f: () => void) {
    this.heartbeat = f;
  }
  onmessage: ((e: { data: string }) => void) | undefined;
  constructor() {
    open.add(this);
  }
  close() {
    open.delete(this);
  }
}
const only = () => {
  expect(open.size).toBe(1);
  return [...open][0];
};
const soon = { timeout: 10_000 }; // a machine that has other work is slow
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

function tab() {
  const state = vi.fn();
  const changed = vi.fn();
  const heard = vi.fn();
  const end = share("/v1/live?of=tabs", () => Promise.resolve(true), { state, heard, changed }, false);
  ends.push(end);
  return { state, heard, changed, end };
}

test("tabs share one stream, and the next one takes it when the one that holds it goes", async () => {
  vi.stubGlobal("EventSource", Stream);
  const chance = vi.spyOn(Math, "random").mockReturnValueOnce(0).mockReturnValueOnce(0.9); // the first is the older one by its rank too
  const first = tab();
  const second = tab();
  chance.mockRestore();
  await vi.waitFor(() => only(), soon);
  only()?.heartbeat?.();
  only()?.onmessage?.({ data: '{"what":["nodes"]}' });
  await vi.waitFor(() => expect(second.changed).toHaveBeenCalledWith(["nodes"]), soon);
  expect(first.changed).toHaveBeenCalledWith(["nodes"]);
  expect(second.state).toHaveBeenLastCalledWith("live");
  expect(second.heard).toHaveBeenCalled();
  const before = only();
  first.end();
  await vi.waitFor(() => expect(only()).not.toBe(before), soon);
  only()?.heartbeat?.();
  expect(second.changed).toHaveBeenLastCalledWith(undefined); // what was missed between the two
});

test("a newcomer is told of what changes between its own stream and the one that it shares", async () => {
  vi.stubGlobal("EventSource", Stream);
  const older = new BroadcastChannel("fairlead/v1/live?of=tabs");
  ends.push(() => older.close());
  const newcomer = tab();
  only()?.heartbeat?.();
  // Both streams carry the change, and the newcomer's is closed before it has told.
  older.postMessage({ kind: "changed", what: ["revision"] });
  older.postMessage({ kind: "here", rank: 0, state: "live" });
  await vi.waitFor(() => expect(open.size).toBe(0), soon);
  expect(newcomer.changed).toHaveBeenCalledWith(["revision"]);
});
