import { Button, Group, Stack, Text } from "@mantine/core";
import type { Resource } from "../api/client";
import { usePlace } from "../app/place";
import { documentOf } from "../resources/document";
import { ButtonLink } from "../ui/link";
import { Ago } from "../ui/time";
import { RevisionLink } from "./publish";
import { putEdit, type Edit } from "./store";

/** Somebody has changed what is to be deleted since it was read. */
export function DeletionChanged({ edit, now, onKeep }: { edit: Edit; now: Resource; onKeep: () => void }) {
  const { author, fleet } = usePlace();
  return (
    <Stack gap="xs">
      <Text size="sm" className="words" component="div" role="alert">
        Changed since you read it, in <RevisionLink fleet={fleet} revision={now.revision} /> by {now.updated_by ?? "somebody"}, <Ago at={now.updated_at} />. It is not deleted before you say that
        it is meant.
      </Text>
      <Group gap="xs">
        <Button size="xs" color="red" onClick={() => putEdit(author, fleet, { ...edit, base: documentOf(now), etag: now.etag, at: new Date().toISOString() })}>
          Delete it all the same
        </Button>
        <Button size="xs" variant="default" onClick={onKeep}>
          Keep it
        </Button>
        <ButtonLink to="/fleets/$fleet/resources/$type/$name" params={{ fleet, type: edit.type, name: edit.name }} search={{ variant: edit.variant }} variant="subtle" size="xs">
          See what is there now
        </ButtonLink>
      </Group>
    </Stack>
  );
}
