// What is typed into a form, kept for this tab: a reload loses nothing. Not for secrets.
import { useState } from "react";

const prefix = "fairlead.form/";

export function useKept(key: string, initial: Record<string, string>): [Record<string, string>, (next: Record<string, string>) => void] {
  const [values, setValues] = useState(() => ({ ...initial, ...read(key) }));
  return [
    values,
    (next) => {
      setValues(next);
      try {
        sessionStorage.setItem(prefix + key, JSON.stringify(next));
      } catch {
        // The browser keeps nothing, or no more: it is typed all the same, and a reload forgets it.
      }
    },
  ];
}

export function forget(key: string) {
  try {
    sessionStorage.removeItem(prefix + key);
  } catch {
    // Nothing is kept there.
  }
}

function read(key: string): Record<string, string> {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(prefix + key) ?? "{}");
    if (typeof found !== "object" || found === null) return {};
    return Object.fromEntries(Object.entries(found).filter((e): e is [string, string] => typeof e[1] === "string"));
  } catch {
    return {};
  }
}
