// How load is told, everywhere in the same words.
import type { Counts } from "./sums";

export const number = (n: number) => n.toLocaleString("en");

const requests = (n: number) => (n === 1 ? "1 request" : `${number(n)} requests`);
const errors = (n: number) => (n === 1 ? "1 error" : `${number(n)} errors`);

/** Of an hour, in a sentence. What was dropped was never issued. */
export function loadSentence(c: Counts): string {
  const dropped = c.dropped === 0 ? "" : ` ${requests(c.dropped)} more ${c.dropped === 1 ? "was" : "were"} dropped.`;
  return `${requests(c.issued)} in the last hour: ${number(c.successful)} successful, ${errors(c.errors)}.${dropped}`;
}

/** The same for a cell. */
export function loadWords(c: Counts): string {
  const parts = [number(c.issued)];
  if (c.errors > 0) parts.push(errors(c.errors));
  if (c.dropped > 0) parts.push(`${number(c.dropped)} dropped`);
  return parts.join(", ");
}
