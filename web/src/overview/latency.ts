// Commit -> ACK in words, for who does not see the chart, and for who does.
import { duration } from "../receipt/words";

/** When a revision was taken first and last, in ms after its commit. Neither where nobody took it as it came. */
export interface AckTime {
  revision: number;
  first: number | undefined;
  last: number | undefined;
}

export function latencySentence(times: readonly AckTime[]): string {
  const taken = times.filter((t): t is AckTime & { last: number } => t.last !== undefined).sort((a, b) => a.last - b.last);
  const middle = taken[Math.floor((taken.length - 1) / 2)];
  const worst = taken.at(-1);
  if (middle === undefined || worst === undefined) return "No node has ACKed one of these revisions as it came, so there is no time to tell.";
  const rest = times.length - taken.length;
  const of = taken.length === 1 ? "1 revision" : `${taken.length} revisions`;
  const without = rest === 0 ? "" : rest === 1 ? " 1 had no ACK as it came." : ` ${rest} had no ACK as they came.`;
  if (taken.length === 1) return `Revision ${worst.revision} had its last ACK ${duration(worst.last)} after the commit.${without}`;
  return `Over ${of} the last ACK came ${duration(middle.last)} after the commit in the middle, ${duration(worst.last)} at most (revision ${worst.revision}).${without}`;
}
