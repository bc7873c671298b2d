// How a fleet is as a whole: the worst of what its newest receipt says, what its nodes refuse, and what is found in it.
// Whatever shows a fleet by one word and colour takes them from here.
import type { FindingList, Fleet } from "../api/client";

export interface Health {
  /** Of all that is to be said, the worst. */
  word: string;
  color: "red" | "orange" | "yellow" | "gray" | "teal";
}

type Found = Pick<FindingList, "errors" | "warnings">;

const many = (n: number, word: string) => (n === 1 ? `1 ${word}` : `${n} ${word}s`);

/** Without findings, which are counted late or not at all, nothing is called well. Undefined where the fleet was not counted. */
export function fleetHealth({ counts }: Pick<Fleet, "counts">, found: Found | undefined): Health | undefined {
  if (counts === undefined) return undefined;
  const { receipt, nodes } = counts;
  if (receipt === "rejected") return { word: "rejected", color: "red" };
  if (nodes.refusing > 0) return { word: `${many(nodes.refusing, "node")} ${nodes.refusing === 1 ? "refuses" : "refuse"} something`, color: "red" };
  if (found !== undefined && found.errors > 0) return { word: many(found.errors, "error"), color: "red" };
  if (counts.open_refusals > 0) return { word: `${many(counts.open_refusals, "refusal")} ${counts.open_refusals === 1 ? "stands" : "stand"}`, color: "orange" };
  if (receipt === "pending") return { word: "pending", color: "yellow" };
  if (found !== undefined && found.warnings > 0) return { word: many(found.warnings, "warning"), color: "yellow" };
  if (receipt === undefined) return undefined;
  return { word: receipt, color: receipt === "delivered" && found !== undefined ? "teal" : "gray" };
}
