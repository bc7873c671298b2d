// How long a token or credential is good.
import { NativeSelect } from "@mantine/core";
import { daysFrom } from "./words";

const choices = [1, 7, 30, 90, 180, 366];

interface Props {
  value: string;
  most: number;
  /** What happens where nothing is asked for. */
  usual: string;
  set: (days: string) => void;
}

export function Expiry({ value, most, usual, set }: Props) {
  return (
    <NativeSelect
      label="Expires after"
      value={value}
      data={[{ value: "", label: usual }, ...choices.filter((d) => d <= most).map((d) => ({ value: String(d), label: d === 1 ? "1 day" : `${d} days` }))]}
      onChange={(e) => set(e.currentTarget.value)}
    />
  );
}

/** What the contract takes of it. A minute less than the most, as the server's clock is another one. */
export function expiresAt(days: string, now: number): { expires_at?: string } {
  return days === "" ? {} : { expires_at: daysFrom(now - 60_000, Number(days)) };
}
