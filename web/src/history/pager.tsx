// Forward through a list page by page, and back to its beginning. The place stands in the address.
import { Button, Group } from "@mantine/core";
import { useFilters } from "../ui/search";

export function Pager({ next, word = "cursor", label }: { next: string | undefined; word?: string; label: string }) {
  const [search, set] = useFilters();
  const at = search[word];
  if (at === undefined && next === undefined) return null;
  return (
    <Group component="nav" aria-label={label} justify="flex-end" gap="sm" mt="sm">
      <Button variant="default" size="xs" disabled={at === undefined} onClick={() => set({ [word]: undefined })}>
        First page
      </Button>
      <Button variant="default" size="xs" disabled={next === undefined} onClick={() => set({ [word]: next })}>
        Next page
      </Button>
    </Group>
  );
}
