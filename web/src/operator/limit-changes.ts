import type { Limit, LimitsUpdate } from "../api/client";

/** What is typed for a limit: a number, nothing for the default, or undefined where it was not touched. */
export type Typed = Partial<Record<Limit["what"], string>>;

/** A whole number that the contract takes, or undefined. */
export function wholeNumber(text: string): number | undefined {
  if (!/^\d{1,16}$/.test(text.trim())) return undefined;
  const n = Number(text.trim());
  return Number.isSafeInteger(n) ? n : undefined;
}

/** What is to be sent: the limits alone that are to be others. Null brings the default back. */
export function limitChanges(items: readonly Limit[], typed: Typed): LimitsUpdate {
  const update: LimitsUpdate = {};
  for (const l of items) {
    const text = typed[l.what];
    if (text === undefined) continue;
    if (text.trim() === "") {
      if (l.overridden) update[l.what] = null;
      continue;
    }
    const n = wholeNumber(text);
    if (n !== undefined && n !== l.limit) update[l.what] = n;
  }
  return update;
}

/** Whether something is typed that is no number. */
export function hasFault(typed: Typed): boolean {
  return Object.values(typed).some((text) => text.trim() !== "" && wholeNumber(text) === undefined);
}
