import { Text } from "@mantine/core";
import { number } from "./words";

/** What the numbers lack, if they lack something. */
export function LeftOut({ parts }: { parts: number }) {
  if (parts === 0) return null;
  return (
    <Text size="sm" role="note">
      {parts === 1 ? "1 part" : `${number(parts)} parts`} of the fleet's reports of the last hour {parts === 1 ? "was" : "were"} left out, over the limits. Numbers may be too low.
    </Text>
  );
}
