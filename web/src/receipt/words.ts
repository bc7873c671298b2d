// How a receipt is told, everywhere in the same words.
import type { Receipt, ReceiptRefusal, ReceiptState, RefusalEnd } from "../api/client";

const nodes = (n: number) => (n === 1 ? "1 node" : `${n} nodes`);

/** One sentence. It never tells a time for no ACKs, and never "0 of n" of what nobody was asked. */
export function receiptSentence(r: Pick<Receipt, "state" | "counts" | "last_ack_ms">): string {
  const c = r.counts;
  const answered = c.acked - c.unaffected; // the others had nothing to confirm
  const asked = answered + c.nacked + c.pending + c.left;
  const parts: string[] = [];
  if (asked > 0) {
    parts.push(`${answered} of ${nodes(asked)} ACKed${answered > 0 && r.last_ack_ms !== undefined ? ` in ${duration(r.last_ack_ms)}` : ""}`);
    if (c.nacked > 0) parts.push(`${c.nacked} refused`);
    if (c.left > 0) parts.push(`${c.left} ${c.left === 1 ? "has" : "have"} gone without it`);
    const waiting = c.pending - c.withheld;
    if (waiting > 0) parts.push(`${waiting} not answered yet`);
    if (c.withheld > 0) parts.push(`${c.withheld} wait for something that is missing or refused`);
  } else if (c.offline === 0 && c.late === 0 && c.unaffected === 0) {
    parts.push("no node has it yet");
  }
  if (c.unaffected > 0) parts.push(`it changes nothing for ${nodes(c.unaffected)}`);
  if (c.late > 0) parts.push(`${nodes(c.late)} ACKed it later`);
  if (c.offline > c.left) parts.push(`${c.offline - c.left} offline`);
  return parts.join(", ");
}

/** How a refusal ended. */
export function endWords(ended: RefusalEnd, by: number | undefined): string {
  if (ended === "offered") return "offered to it again since then";
  if (ended === "taken") return "it has what it is to have since then";
  return by === undefined ? "another version is in force since then" : `ended by revision ${by}`;
}

/** What was done about a refusal, or how it ended. */
export const doneAbout = (n: Pick<ReceiptRefusal, "action" | "ended" | "resolved_by">): string | undefined => (n.ended ? endWords(n.ended, n.resolved_by) : n.action);

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
