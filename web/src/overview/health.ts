// How a fleet is, in four numbers that add up to its nodes.
import type { NodeCounts, ReceiptCounts } from "../api/client";

export const kinds = ["in sync", "pending", "refusing", "offline"] as const;
export type Kind = (typeof kinds)[number];

export const kindColor: Record<Kind, string> = { "in sync": "teal", pending: "yellow", refusing: "red", offline: "gray" };

/** What each of them means, for who hovers over it. */
export const kindWords: Record<Kind, string> = {
  "in sync": "connected, and has the newest revision",
  pending: "connected, and has not answered the newest revision yet",
  refusing: "connected, and refuses something: it runs the last known good version of that",
  offline: "not connected: it gets the newest revision when it comes back",
};

/** A node that is connected and refuses nothing is in sync, unless the newest receipt waits for it. */
export function health(nodes: NodeCounts, receipt?: Pick<ReceiptCounts, "pending">): Record<Kind, number> {
  const pending = Math.min(receipt?.pending ?? 0, nodes.live);
  return { "in sync": nodes.live - pending, pending, refusing: nodes.refusing, offline: nodes.offline };
}

/** "3 in sync, 1 offline": what there is of. */
export function healthSentence(h: Record<Kind, number>): string {
  const parts = kinds.filter((k) => h[k] > 0).map((k) => `${h[k]} ${k}`);
  return parts.length === 0 ? "no node has connected yet" : parts.join(", ");
}
