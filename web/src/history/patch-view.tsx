// What changes in one resource, in two colours, with the line numbers of both sides.
import { Button, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import { parsePatch, type PatchLine } from "./patch";
import "./patch.css";

const most = 300;
const sign = { add: "+", del: "-", same: " ", gap: "⋮" };

export function PatchView({ label, diff }: { label: string; diff: string }) {
  const lines = useMemo(() => parsePatch(diff), [diff]);
  const [all, setAll] = useState(false);
  const shown = all ? lines : lines.slice(0, most);
  return (
    <div className="patch">
      <div className="patch-lines" role="region" aria-label={label} tabIndex={0}>
        {shown.map((line, i) => (
          <Line key={i} line={line} />
        ))}
      </div>
      {shown.length < lines.length && (
        <Button variant="subtle" size="compact-sm" fullWidth onClick={() => setAll(true)}>
          Show all {lines.length} lines
        </Button>
      )}
    </div>
  );
}

function Line({ line }: { line: PatchLine }) {
  return (
    <div className="patch-line" data-kind={line.kind}>
      <span data-n={line.before ?? ""} aria-hidden="true" />
      <span data-n={line.after ?? ""} aria-hidden="true" />
      <span>{sign[line.kind]}</span>
      <span>{line.text}</span>
    </div>
  );
}

interface Shown {
  diff?: string;
  hidden?: boolean;
  omitted?: boolean;
}

/** The difference that an answer has of a resource, or why it has none. */
export function PatchOf({ label, of }: { label: string; of: Shown }) {
  const note = of.omitted
    ? "The difference is left out, because the answer would be too large."
    : of.hidden
      ? of.diff
        ? "Some of what differs is not shown: a secret, or a key."
        : "What differs is not shown: it is of a secret, or of a key."
      : of.diff
        ? undefined
        : "Only what is not part of the document differs.";
  return (
    <>
      {of.diff !== undefined && of.diff !== "" && <PatchView label={label} diff={of.diff} />}
      {note !== undefined && (
        <Text size="sm" c="dimmed">
          {note}
        </Text>
      )}
    </>
  );
}
