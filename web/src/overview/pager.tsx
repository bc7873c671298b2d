import { Group } from "@mantine/core";
import { ButtonLink } from "../ui/link";
import { useFilters } from "../ui/search";

/** The way through a list's pages: links, so that the browser's way back works. */
export function Pager({ next }: { next: string | undefined }) {
  const [{ cursor }] = useFilters();
  if (cursor === undefined && next === undefined) return null;
  return (
    <Group gap="sm" component="nav" aria-label="Pages">
      {cursor !== undefined && (
        <ButtonLink to="." search={(old) => ({ ...old, cursor: undefined })} variant="default" size="xs">
          First page
        </ButtonLink>
      )}
      {next !== undefined && (
        <ButtonLink to="." search={(old) => ({ ...old, cursor: next })} variant="default" size="xs">
          Next page
        </ButtonLink>
      )}
    </Group>
  );
}
