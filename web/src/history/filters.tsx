// Fields whose values stand in the address.
import { NativeSelect, TextInput } from "@mantine/core";
import { useFilters } from "../ui/search";

interface Field {
  label: string;
  word: string;
  /** What begins anew with another value: the page of the list. */
  resets?: readonly string[];
}

const cleared = (resets: readonly string[] = ["cursor"]) => Object.fromEntries(resets.map((r) => [r, undefined]));

export function ChoiceFilter({ label, word, resets, values, all = "all" }: Field & { values: readonly string[]; all?: string }) {
  const [search, set] = useFilters();
  return (
    <NativeSelect
      label={label}
      size="sm"
      value={values.find((v) => v === search[word]) ?? ""}
      onChange={(e) => set({ ...cleared(resets), [word]: e.currentTarget.value === "" ? undefined : e.currentTarget.value })}
      data={[{ value: "", label: all }, ...values.map((v) => ({ value: v, label: v }))]}
    />
  );
}

/** Taken with Enter, or when one goes on. */
export function TextFilter({ label, word, resets, kind = "text", disabled = false, placeholder }: Field & { kind?: "text" | "time"; disabled?: boolean; placeholder?: string }) {
  const [search, set] = useFilters();
  const shown = kind === "time" ? localTime(search[word]) : (search[word] ?? "");
  const take = (value: string) => {
    const next = kind === "time" ? timeOf(value) : value.trim();
    if (value !== shown) set({ ...cleared(resets), [word]: next === "" ? undefined : next });
  };
  return (
    <TextInput
      key={shown}
      label={label}
      size="sm"
      type={kind === "time" ? "datetime-local" : "text"}
      defaultValue={shown}
      disabled={disabled}
      {...(placeholder === undefined ? {} : { placeholder })}
      onBlur={(e) => take(e.currentTarget.value)}
      onKeyDown={(e) => {
        if (e.key === "Enter") take(e.currentTarget.value);
      }}
    />
  );
}

/** A time of the address as the browser's field has it, and back. */
export function localTime(time: string | undefined): string {
  const t = time === undefined ? NaN : Date.parse(time);
  if (Number.isNaN(t)) return "";
  return new Date(t - new Date(t).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function timeOf(local: string): string {
  const t = Date.parse(local);
  return Number.isNaN(t) ? "" : new Date(t).toISOString();
}
