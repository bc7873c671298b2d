// The states of nodes and receipts: always a word beside the colour.
import { Badge } from "@mantine/core";
import type { NodeState, ReceiptState } from "../api/client";
import type { Health } from "../overview/fleet-health";
import { receiptColor } from "../receipt/words";

export const nodeColor: Record<NodeState, string> = { live: "teal", refusing: "red", offline: "gray" };

export function NodeBadge({ state }: { state: NodeState }) {
  return (
    <Badge color={nodeColor[state]} variant="light">
      {state}
    </Badge>
  );
}

/** How a fleet is as a whole. */
export function HealthBadge({ health: h }: { health: Health | undefined }) {
  if (h === undefined) return null;
  return (
    <Badge color={h.color} variant="light" style={{ flexShrink: 0 }}>
      {h.word}
    </Badge>
  );
}

export function ReceiptBadge({ state }: { state: ReceiptState }) {
  return (
    <Badge color={receiptColor[state]} variant="light">
      {state}
    </Badge>
  );
}
