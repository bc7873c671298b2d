// Pages of a list by the API's cursors. Where one is stands in the address; the way back in the history's entry, as the
// API tells of a page only the next one.
import { Button, Group, Text } from "@mantine/core";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { useFilters } from "./search";

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** Of each list the cursors of the pages before this one; "" is the first. */
    pagesBefore?: Record<string, string[]>;
  }
}

interface Props {
  /** What is in the list, such as "tokens". */
  of: string;
  next: string | undefined;
  /** The cursor's word in the address; several lists of one page have one each. */
  word?: string;
  onMove?: () => void;
}

/** Buttons for the page before and after, and the number of the page where it is known; nothing where there is one page. */
export function Pager({ of, next, word = "cursor", onMove }: Props) {
  const [{ [word]: cursor }] = useFilters();
  const kept = useLocation({ select: (l) => l.state.pagesBefore?.[word] });
  const navigate = useNavigate();
  if (cursor === undefined && next === undefined) return null;
  const before = cursor === undefined ? [] : kept; // undefined where one came here by a link
  const go = (to: string | undefined, trail: string[]) => {
    void navigate({ to: ".", search: (old) => ({ ...old, [word]: to }), state: (old) => ({ ...old, pagesBefore: { ...old.pagesBefore, [word]: trail } }), resetScroll: false });
    onMove?.();
  };
  return (
    <Group component="nav" aria-label={`Pages of ${of}`} justify="space-between" mt="md" gap="sm">
      <Button variant="default" size="sm" disabled={cursor === undefined} onClick={() => go(before?.at(-1) || undefined, before?.slice(0, -1) ?? [])}>
        {before ? "Previous page" : "First page"}
      </Button>
      <Text size="sm" c="dimmed">
        {before ? `page ${before.length + 1}` : "a later page"}
      </Text>
      <Button variant="default" size="sm" disabled={next === undefined} onClick={() => next !== undefined && go(next, [...(before ?? []), cursor ?? ""])}>
        Next page
      </Button>
    </Group>
  );
}
