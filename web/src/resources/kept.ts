// What is typed into a form, kept for this tab: a reload loses nothing. Not for secrets.
import { useState } from "react";

const prefix = "fairlead.form/";

export function useKept(key: string, initial: Record<string, string>): [Record<string, string>, (next: Record<string, string>) => void] {
  const [values, setValues] = useState(() => ({ ...initial, ...read(key) }));
  return [
    values,
    (next) => {
      sessionStorage.setItem(prefix + key, JSON.stringify(next));
      setValues(next);
    },
  ];
}

export function forget(key: string) {
  sessionStorage.removeItem(prefix + key);
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
