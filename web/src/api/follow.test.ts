import { QueryObserver } from "@tanstack/react-query";
import { afterEach, expect, test, vi } from "vitest";
import { changed, queryClient } from "./follow";

const soon = { timeout: 10_000 }; // a machine that has other work is slow

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
  queryClient.clear();
});

/** A query on screen, whose answers the test gives one by one. */
function watched() {
  const answers: ((text: string) => void)[] = [];
  const observer = new QueryObserver<string>(queryClient, {
    queryKey: ["watched"],
    queryFn: () => new Promise<string>((answer) => answers.push(answer)),
    meta: { follows: ["revision"], fleet: "edge" },
  });
  ends.push(observer.subscribe(() => undefined));
  return { answers, shown: () => observer.getCurrentResult().data };
}

test("what changes while the first answer is on its way is read", async () => {
  const { answers, shown } = watched();
  changed(["revision"], "edge");
  changed(["revision"], "edge");
  answers[0]?.("from before the change");
  await vi.waitFor(() => expect(answers.length).toBe(2), soon);
  answers[1]?.("from after it");
  await vi.waitFor(() => expect(shown()).toBe("from after it"), soon);
  expect(answers.length).toBe(2);
});

test("changes that come faster than answers starve nothing on screen", async () => {
  const { answers, shown } = watched();
  answers[0]?.("first");
  await vi.waitFor(() => expect(shown()).toBe("first"), soon);
  for (let i = 0; i < 5; i++) changed(["revision"], "edge");
  expect(answers.length).toBe(2);
  answers[1]?.("second");
  await vi.waitFor(() => expect(shown()).toBe("second"), soon);
  await vi.waitFor(() => expect(answers.length).toBe(3), soon);
});

test("after an outage what nobody may answer is asked again at once", async () => {
  const { answers, shown } = watched();
  answers[0]?.("first");
  await vi.waitFor(() => expect(shown()).toBe("first"), soon);
  changed(["revision"], "edge");
  changed();
  expect(answers.length).toBe(3);
});
