// A list shows revisions of the kind `endpoints` that follow each other as one line: the newest, which stands for all of them.
import type { Revision } from "../api/client";

/** How many revisions the line stands for. */
export const runOf = ({ run = 1 }: Pick<Revision, "run">): number => run;

/** The first of them. */
export const firstOf = (r: Pick<Revision, "revision" | "run">): number => r.revision - runOf(r) + 1;

/** "Revision 57", or "Revisions 12 to 57". */
export const revisionsWords = (r: Pick<Revision, "revision" | "run">): string => (runOf(r) > 1 ? `Revisions ${firstOf(r)} to ${r.revision}` : `Revision ${r.revision}`);

/** The kind in the API's word, and how many stand there: "endpoints, 46 revisions". */
export const kindWords = (r: Pick<Revision, "kind" | "run">): string => (runOf(r) > 1 ? `${r.kind}, ${runOf(r)} revisions` : r.kind);

/** Whether it changed what is served of endpoints that are data, and no document. */
export const isOfEndpoints = ({ kind }: Pick<Revision, "kind">): boolean => kind === "endpoints";
