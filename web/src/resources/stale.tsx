// Somebody else has written meanwhile: both texts are there, and one chooses.
import { Alert, Button, Collapse, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { Resource } from "../api/client";
import { Diff } from "../code";
import { languageOf } from "../code/document";
import { Ago } from "../ui/time";
import type { Editing } from "./edit";
import { conflictsIn, decide } from "./merge";

export function StaleEdit({ editing, resource }: { editing: Editing; resource: Resource | null }) {
  const [compared, setCompared] = useState(false);
  const { edit } = editing;
  if (!edit || !editing.stale) return null;
  if (!resource) return <Gone editing={editing} />;
  const began = edit.etag === undefined ? "There was none when you began." : "You began with what was there before.";
  return (
    <Alert color="yellow" role="alert" title="Changed meanwhile">
      <Stack gap="sm">
        <Text size="sm" className="words">
          {resource.updated_by ?? "Somebody"} wrote it in revision {resource.revision}, <Ago at={resource.updated_at} />. {began} {edit.action === "delete" ? "It is not deleted before you say that it is meant." : "Published as it is, your edit would be refused."}
        </Text>
        <Group gap="sm">
          {edit.action === "write" && <Button size="xs" onClick={editing.merge}>Merge both</Button>}
          <Button size="xs" variant="default" onClick={editing.overwrite}>{edit.action === "delete" ? "Delete it all the same" : "Keep mine, drop theirs"}</Button>
          <Button size="xs" variant="default" onClick={editing.discard}>{edit.action === "delete" ? "Keep it" : "Take theirs, drop mine"}</Button>
          {edit.action === "write" && <Button size="xs" variant="subtle" aria-expanded={compared} onClick={() => setCompared(!compared)}>{compared ? "Hide the difference" : "Compare theirs and mine"}</Button>}
        </Group>
        <Collapse expanded={compared}>{compared && <Diff label="Theirs and mine" before={editing.stored} after={edit.text} language={languageOf(edit.text)} />}</Collapse>
      </Stack>
    </Alert>
  );
}

function Gone({ editing }: { editing: Editing }) {
  if (editing.edit?.action === "delete") {
    return (
      <Alert color="yellow" role="alert" title="It is deleted already">
        <Stack gap="sm" align="flex-start">
          <Text size="sm">Somebody has deleted it since. Nothing is left to do.</Text>
          <Button size="xs" variant="default" onClick={editing.discard}>Take it out of the draft</Button>
        </Stack>
      </Alert>
    );
  }
  return (
    <Alert color="yellow" role="alert" title="Deleted meanwhile">
      <Stack gap="sm">
        <Text size="sm">Somebody has deleted this resource since you began. Published as it is, your edit would be refused.</Text>
        <Group gap="sm">
          <Button size="xs" onClick={editing.overwrite}>Create it again with my edit</Button>
          <Button size="xs" variant="default" onClick={editing.discard}>Drop my edit</Button>
        </Group>
      </Stack>
    </Alert>
  );
}

/** What is left of a merge to decide. */
export function Conflicts({ editing }: { editing: Editing }) {
  const conflicts = conflictsIn(editing.text);
  const first = conflicts[0];
  if (!first) return null;
  return (
    <Alert color="yellow" role="status" title={conflicts.length === 1 ? "1 place is left that both of you changed" : `${conflicts.length} places are left that both of you changed`}>
      <Stack gap="sm">
        <Text size="sm">Decide in the editor, between the markers, or here for the first one:</Text>
        <Group gap="sm">
          <Button size="xs" variant="default" onClick={() => editing.change(decide(editing.text, first, "mine"))}>Take mine</Button>
          <Button size="xs" variant="default" onClick={() => editing.change(decide(editing.text, first, "theirs"))}>Take theirs</Button>
        </Group>
      </Stack>
    </Alert>
  );
}
