// What went wrong, in words that help.
import { Alert, Button, Code, Group, List, Stack, Text } from "@mantine/core";
import { Refused, Unreachable, type FieldError } from "../api/client";

/** The title of an error. */
export function problemTitle(e: unknown): string {
  if (e instanceof Unreachable) return "No answer";
  if (e instanceof Refused) {
    if (e.status === 403) return "Not allowed";
    if (e.status === 404) return "Not here";
    if (e.status === 412) return "Changed meanwhile";
    if (e.status === 429) return "Too many requests";
    if (e.status === 503) return "Not available at the moment";
    return e.problem.title;
  }
  return "Something went wrong in this page";
}

export function problemWords(e: unknown): string {
  if (e instanceof Unreachable) return `${e.message} What is shown may be old. Proxies go on with what they have.`;
  return e instanceof Error ? e.message : String(e);
}

/** An error with all its faults, and a way to try again if that may help. */
export function ProblemAlert({ error, retry, title }: { error: unknown; retry?: (() => void) | undefined; title?: string }) {
  const faults = error instanceof Refused ? error.faults : [];
  return (
    <Alert color="red" role="alert" title={title ?? problemTitle(error)}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm" className="words">{problemWords(error)}</Text>
        {faults.length > 0 && (
          <List size="sm">
            {faults.map((f, i) => (
              <List.Item key={i} className="words">
                <Code>{place(f)}</Code> {f.detail}
              </List.Item>
            ))}
          </List>
        )}
        <Group gap="md">
          {retry && (
            <Button size="xs" variant="default" onClick={retry}>
              Try again
            </Button>
          )}
          {error instanceof Refused && (
            <Text size="xs" c="dimmed">
              request {error.problem.request_id}
            </Text>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}

function place(f: FieldError): string {
  return f.parameter ?? (f.pointer === undefined || f.pointer === "" ? "the body" : f.pointer);
}
