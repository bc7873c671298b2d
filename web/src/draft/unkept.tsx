import { Alert, Text } from "@mantine/core";
import { useUnkept, type Author } from "./store";

/** Says that a reload would lose what was typed, where the browser does not keep it. */
export function Unkept({ author, fleet }: { author: Author; fleet: string }) {
  if (!useUnkept(author, fleet)) return null;
  return (
    <Alert color="red" role="alert" title="The draft is not kept: the browser has no room for it">
      <Text size="sm">
        What you typed last is only in this tab, and a reload or closing it loses that. Publish it before, or copy it to a file. To make room, drop edits that you do not need, here and in
        other fleets, or let the browser store data of this site, if that is turned off.
      </Text>
    </Alert>
  );
}
