// How a receipt is told, everywhere in the same words.
import type { Receipt, ReceiptState } from "../api/client";

const nodes = (n: number) => (n === 1 ? "1 node" : `${n} nodes`);

/** One sentence. It never tells a time for no ACKs, and never "0 of n" of what nobody was asked. */
export function receiptSentence(r: Pick<Receipt, "state" | "counts" | "last_ack_ms">): string {
  const c = r.counts;
  const asked = c.acked + c.nacked + c.pending;
  const parts: string[] = [];
  const answered = c.acked - c.unaffected; // the others were never asked, and have no time
  if (asked > 0) {
    parts.push(`${c.acked} of ${nodes(asked)} ACKed${answered > 0 && r.last_ack_ms !== undefined ? ` in ${duration(r.last_ack_ms)}` : ""}`);
    if (c.nacked > 0) parts.push(`${c.nacked} refused`);
    const waiting = c.pending - c.withheld;
    if (waiting > 0) parts.push(`${waiting} not answered yet`);
    if (c.withheld > 0) parts.push(`${c.withheld} wait for something that is missing or refused`);
  } else if (c.offline === 0 && c.late === 0) {
    parts.push("no node is connected");
  }
  if (c.late > 0) parts.push(`${nodes(c.late)} took it later`);
  if (c.offline > 0) parts.push(`${c.offline} offline`);
  return parts.join(", ");
}

export const receiptColor: Record<ReceiptState, string> = {
  delivered: "teal",
  pending: "yellow",
  rejected: "red",
  stored: "gray",
};

/** Milliseconds for people. */
export function duration(ms: number): string {
  if (ms < 1) return "less than 1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.round(ms / 60_000)} min`;
}
