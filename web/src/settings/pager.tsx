// A list page by page: the place stands in the address.
import { Button, Group } from "@mantine/core";
import { useFilters } from "../ui/search";

interface Props {
  /** What is in the list, such as "tokens". */
  of: string;
  next: string | undefined;
  /** The word of the address; several lists of one page have one each. */
  word?: string;
  first?: string;
  more?: string;
}

export function Pager({ of, next, word = "cursor", first = "Newest", more = "Older" }: Props) {
  const [filters, set] = useFilters();
  const at = filters[word];
  if (at === undefined && next === undefined) return null;
  return (
    <Group component="nav" aria-label={`Pages of the ${of}`} gap="sm" mt="sm">
      <Button size="xs" variant="default" disabled={at === undefined} onClick={() => set({ [word]: undefined })}>
        {first}
      </Button>
      <Button size="xs" variant="default" disabled={next === undefined} onClick={() => set({ [word]: next })}>
        {more}
      </Button>
    </Group>
  );
}
