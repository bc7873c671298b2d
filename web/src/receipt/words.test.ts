import { expect, test } from "vitest";
import type { ReceiptCounts } from "../api/client";
import { receiptSentence } from "./words";

const counts = (more: Partial<ReceiptCounts>): ReceiptCounts => ({ acked: 0, nacked: 0, pending: 0, offline: 0, left: 0, withheld: 0, unaffected: 0, late: 0, ...more });

test.each([
  [counts({ acked: 3 }), 44, "3 of 3 nodes ACKed in 44 ms"],
  [counts({ nacked: 3 }), 44, "0 of 3 nodes ACKed, 3 refused"],
  [counts({ acked: 2, unaffected: 2 }), 44, "it changes nothing for 2 nodes"],
  [counts({ acked: 301, unaffected: 300 }), 44, "1 of 1 node ACKed in 44 ms, it changes nothing for 300 nodes"],
  [counts({ acked: 300, unaffected: 300, nacked: 1, offline: 2 }), 44, "0 of 1 node ACKed, 1 refused, it changes nothing for 300 nodes, 2 offline"],
  [counts({ acked: 1, pending: 3, withheld: 1 }), 1500, "1 of 4 nodes ACKed in 1.5 s, 2 not answered yet, 1 wait for something that is missing or refused"],
  [counts({}), undefined, "no node has it yet"],
  [counts({ offline: 2 }), undefined, "2 offline"],
  [counts({ acked: 1, offline: 3, left: 2 }), 44, "1 of 3 nodes ACKed in 44 ms, 2 have gone without it, 1 offline"],
  [counts({ offline: 1, left: 1 }), undefined, "0 of 1 node ACKed, 1 has gone without it"],
  [counts({ late: 1 }), undefined, "1 node ACKed it later"],
])("%j", (c, ms, words) => {
  expect(receiptSentence({ state: "pending", counts: c, ...(ms === undefined ? {} : { last_ack_ms: ms }) })).toBe(words);
});
