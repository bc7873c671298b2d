// Pages of a list by the API's cursors. Where one is stands in the address; the way back in the history's entry, as the
// API tells of a page only the next one.
import { Button, Group, Text } from "@mantine/core";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { useFilters } from "../ui/search";

declare module "@tanstack/react-router" {
  interface HistoryState {
    /** Of each list the cursors of the pages before this one; "" is the first. */
    pagesBefore?: Record<string, string[]>;
  }
}

interface Pages {
  cursor: string | undefined;
  /** The number of the page; left out where one came here by a link. */
  page: number | undefined;
  next: (cursor: string) => void;
  previous: () => void;
}

/** key names the list's cursor in the address. */
export function usePages(key: string): Pages {
  const [search] = useFilters();
  const cursor = search[key];
  const before = useLocation({ select: (l) => l.state.pagesBefore?.[key] });
  const navigate = useNavigate();
  const go = (to: string | undefined, trail: string[]) =>
    void navigate({ to: ".", search: (old) => ({ ...old, [key]: to }), state: (old) => ({ ...old, pagesBefore: { ...old.pagesBefore, [key]: trail } }), resetScroll: false });
  return {
    cursor,
    page: cursor === undefined ? 1 : before && before.length + 1,
    next: (to) => go(to, [...(before ?? []), cursor ?? ""]),
    previous: () => go(before?.at(-1) || undefined, before?.slice(0, -1) ?? []),
  };
}

/** Buttons for the page before and after; nothing where there is one page. */
export function Pager({ label, pages, next, onMove }: { label: string; pages: Pages; next: string | undefined; onMove?: () => void }) {
  const first = pages.cursor === undefined;
  if (first && next === undefined) return null;
  const move = (f: () => void) => {
    f();
    onMove?.();
  };
  return (
    <Group component="nav" aria-label={`Pages of ${label}`} justify="space-between" mt="md" gap="sm">
      <Button variant="default" size="sm" disabled={first} onClick={() => move(pages.previous)}>
        {pages.page === undefined ? "First page" : "Previous page"}
      </Button>
      <Text size="sm" c="dimmed">
        {pages.page === undefined ? "a later page" : `page ${pages.page}`}
      </Text>
      <Button variant="default" size="sm" disabled={next === undefined} onClick={() => next !== undefined && move(() => pages.next(next))}>
        Next page
      </Button>
    </Group>
  );
}
