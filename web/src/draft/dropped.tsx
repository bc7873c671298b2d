import { Button, Group, Text } from "@mantine/core";
import { usePlace } from "../app/place";
import { nameOf } from "../history/resource-link";
import { editOf, putEdit, useDraft, type Edit } from "./store";

/** Edits that were dropped here just now, and the way back for each. */
export function Dropped({ edits, onBack }: { edits: readonly Edit[]; onBack: (edit: Edit) => void }) {
  const { author, fleet } = usePlace();
  const draft = useDraft(author, fleet);
  return edits
    .filter((e) => !editOf(draft, e))
    .map((edit) => (
      <Group key={nameOf(edit)} gap="sm" role="status">
        <Text size="sm" className="words">
          The edit of {nameOf(edit)} is dropped.
        </Text>
        <Button
          size="xs"
          variant="default"
          autoFocus // where the button was that is gone
          aria-label={`Undo: bring the edit of ${nameOf(edit)} back`}
          onClick={() => {
            putEdit(author, fleet, edit);
            onBack(edit);
          }}
        >
          Undo
        </Button>
      </Group>
    ));
}
