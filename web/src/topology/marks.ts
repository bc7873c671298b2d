// What nodes say of the resources: from the latest receipt of the fleet, or from one node.
import type { NodeResourceState, Receipt, ResourceRef, Waits, Withheld } from "../api/client";
import { warmingWords } from "../nodes/words";
import { idOf, type Mark } from "./graph";

const nodes = (n: number) => (n === 1 ? "1 node" : `${n} nodes`);

const ends: Record<Withheld["reason"], string> = { missing: "is there", refused: "is fixed", sealed: "can be opened", too_large: "fits into what the node takes at once" };
const until = (w: Pick<Withheld, "by" | "reason">) => `until ${idOf(w.by)} ${ends[w.reason]}`;

/** Of the whole fleet. The receipt lists a hundred nodes at most, so that there may be more. */
export function fleetMarks(receipt: Receipt): Map<string, Mark> {
  const least = receipt.next_cursor === undefined ? "" : "at least ";
  const refused = new Map<string, number>();
  const withheld = new Map<string, { n: number; first: Withheld }>();
  for (const node of receipt.nodes) {
    for (const id of new Set((node.still_refusing ?? []).map(idOf))) refused.set(id, (refused.get(id) ?? 0) + 1);
    for (const w of node.withheld ?? []) {
      const id = idOf(w.resource);
      withheld.set(id, { n: (withheld.get(id)?.n ?? 0) + 1, first: withheld.get(id)?.first ?? w });
    }
  }
  const marks = new Map<string, Mark>();
  for (const [id, { n, first }] of withheld) marks.set(id, { kind: "withheld", words: `withheld from ${least}${nodes(n)} ${until(first)}` });
  for (const [id, n] of refused) marks.set(id, { kind: "refused", words: `refused by ${least}${nodes(n)}` });
  return marks;
}

/** Of one node, by its states and by what it waits for. */
export function nodeMarks(states: ReadonlyMap<string, NodeResourceState>, waits: Waits | undefined): Map<string, Mark> {
  const marks = new Map<string, Mark>();
  for (const [id, state] of states) {
    if (state === "pending") marks.set(id, { kind: "pending", words: "not answered yet" });
    if (state === "refused") marks.set(id, { kind: "refused", words: "refused, another version stands in where there is one" });
    if (state === "absent") marks.set(id, { kind: "refused", words: "every version refused, the node has none" });
  }
  for (const r of waits?.warming ?? []) set(marks, r, { kind: "pending", words: warmingWords });
  for (const w of waits?.withheld ?? []) set(marks, w.resource, { kind: "withheld", words: `withheld ${until(w)}` });
  return marks;
}

function set(marks: Map<string, Mark>, r: ResourceRef, mark: Mark) {
  if (marks.get(idOf(r))?.kind !== "refused") marks.set(idOf(r), mark);
}
