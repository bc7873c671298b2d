// The states of nodes and receipts: always a word beside the colour.
import { Badge } from "@mantine/core";
import type { NodeState, ReceiptState } from "../api/client";
import { receiptColor } from "../receipt/words";

export const nodeColor: Record<NodeState, string> = { live: "teal", refusing: "red", offline: "gray" };

export function NodeBadge({ state }: { state: NodeState }) {
  return (
    <Badge color={nodeColor[state]} variant="light">
      {state}
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
