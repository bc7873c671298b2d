// The nodes of a receipt as one bar: one piece for each where they are few, else by their share.
import { Group, Text } from "@mantine/core";
import type { ReceiptCounts } from "../api/client";
import "./receipt.css";

const few = 60;

export type Part = "acked" | "unaffected" | "late" | "nacked" | "withheld" | "pending" | "left" | "offline";

const words: Record<Part, string> = { acked: "ACKed", unaffected: "have it unchanged", late: "ACKed it later", nacked: "refused", withheld: "wait for what is missing or refused", pending: "not answered yet", left: "gone without it", offline: "offline" };

export function partsOf(c: ReceiptCounts): [Part, number][] {
  const all: [Part, number][] = [["acked", c.acked - c.unaffected], ["unaffected", c.unaffected], ["late", c.late], ["nacked", c.nacked], ["withheld", c.withheld], ["pending", c.pending - c.withheld], ["left", c.left], ["offline", c.offline - c.left]];
  return all.filter(([, n]) => n > 0);
}

export function ReceiptBar({ counts, label }: { counts: ReceiptCounts; label: string }) {
  const parts = partsOf(counts);
  const total = parts.reduce((sum, [, n]) => sum + n, 0);
  return (
    <div>
      <div className="receipt-bar" role="img" aria-label={label}>
        {total <= few
          ? parts.flatMap(([state, n]) => Array.from({ length: n }, (_, i) => <span key={`${state}${i}`} data-state={state} style={{ flexGrow: 1 }} />))
          : parts.map(([state, n]) => <span key={state} data-state={state} style={{ flexGrow: n }} />)}
      </div>
      <Group gap="md" mt={6}>
        {parts.map(([state, n]) => (
          <Text key={state} size="sm" component="span">
            <span className="receipt-key" data-state={state} aria-hidden="true" />
            {n} {words[state]}
          </Text>
        ))}
      </Group>
    </div>
  );
}
