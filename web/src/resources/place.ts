import { useState } from "react";
import { rangeOf, startOfLine } from "../code/pointer";
import { useFilters } from "../ui/search";

/** The place in the text that the address names, as "line" or "pointer". It is found once: typing moves nobody back there. */
export function useNamedPlace(text: string): number | undefined {
  const [{ line, pointer }] = useFilters();
  const named = JSON.stringify([line, pointer]);
  const [found, setFound] = useState(() => ({ named, at: placeOf(text, line, pointer) }));
  if (found.named !== named) setFound({ named, at: placeOf(text, line, pointer) });
  return found.at;
}

function placeOf(text: string, line: string | undefined, pointer: string | undefined): number | undefined {
  if (line !== undefined && /^[1-9][0-9]{0,8}$/.test(line)) return startOfLine(text, Number(line));
  return pointer?.startsWith("/") ? rangeOf(text, pointer).from : undefined;
}
