// The last step of a change: why, what is to be confirmed, and the button. It tells what became of the write.
import { Alert, Button, Checkbox, Group, List, Stack, Text, Textarea } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { useState, type ReactNode } from "react";
import { Refused, type ConfirmReason, type Plan } from "../api/client";
import { usePlace } from "../app/place";
import { TextLink } from "../ui/link";
import { ProblemAlert } from "../ui/problem";
import { Ago } from "../ui/time";
import { isUnknown, type Write } from "./write";

/** What goes into the request: the plan's token, as what was seen, or as what was confirmed too. */
export interface Token {
  token: string;
  confirmed: boolean;
}

interface Props {
  verb: "Publish" | "Roll back";
  plan: Plan;
  message: string;
  onMessage: (message: string) => void;
  write: Write;
  onSend: (token: Token) => void;
  onAskAgain: () => void;
  /** Whatever became of it: it is not asked again. */
  onForget: () => void;
  onLookAgain: () => void;
  /** Why it cannot be done now. */
  blocked?: ReactNode;
}

const mostBytes = 1024;

export function Publish({ verb, plan, message, onMessage, write, onSend, onAskAgain, onForget, onLookAgain, blocked }: Props) {
  const [seen, setSeen] = useState(false);
  const asked = isConfirm(write.error) ? write.error.problem : undefined;
  const unknown = !write.isPending && isUnknown(write.error);
  const reasons = asked?.confirm ?? plan.confirm;
  const tooLong = new TextEncoder().encode(message).length > mostBytes;
  const ready = blocked === undefined && !unknown && !write.isPending && !tooLong && (reasons.length === 0 || seen);
  const send = () => {
    if (ready) onSend({ token: asked?.token ?? plan.token, confirmed: reasons.length > 0 });
  };
  useHotkeys([["mod+Enter", send]], []);
  return (
    <Stack gap="md">
      <Textarea
        label="Message"
        description="Why, for the history. Ctrl Enter sends."
        value={message}
        onChange={(e) => onMessage(e.currentTarget.value)}
        error={tooLong ? "A message has at most 1024 bytes." : undefined}
        disabled={write.isPending || unknown}
        rows={3}
      />
      {reasons.length > 0 && <Confirm reasons={reasons} seen={seen} onSeen={setSeen} asked={asked !== undefined} />}
      {blocked !== undefined && (
        <Text size="sm" className="words" component="div">
          {blocked}
        </Text>
      )}
      <WriteState write={write} onAskAgain={onAskAgain} onForget={onForget} onLookAgain={onLookAgain} />
      <Group>
        <Button onClick={send} disabled={!ready} loading={write.isPending} {...(reasons.length > 0 ? { color: "red" } : {})}>
          {reasons.length > 0 ? `${verb} all the same` : verb}
        </Button>
      </Group>
    </Stack>
  );
}

function Confirm({ reasons, seen, onSeen, asked }: { reasons: readonly ConfirmReason[]; seen: boolean; onSeen: (seen: boolean) => void; asked: boolean }) {
  return (
    <Alert color="red" variant="light" title={asked ? "Not done yet: this is to be confirmed" : "This is to be confirmed"}>
      <Stack gap="sm">
        <List size="sm">
          {reasons.map((r, i) => (
            <List.Item key={i} className="words">
              {r.detail}
            </List.Item>
          ))}
        </List>
        <Checkbox label="I have seen this, and it is meant" checked={seen} onChange={(e) => onSeen(e.currentTarget.checked)} />
      </Stack>
    </Alert>
  );
}

/** What has become of the write so far, but for what is to be confirmed. */
export function WriteState({ write, onAskAgain, onForget, onLookAgain }: Pick<Props, "write" | "onAskAgain" | "onForget" | "onLookAgain">) {
  const { error } = write;
  if (write.isPending && write.failureCount > 0) {
    return (
      <Text size="sm" role="status">
        No answer yet. The same request is sent again; it is done once, whatever comes of it.
      </Text>
    );
  }
  if (error === null || isConfirm(error)) return null;
  if (isUnknown(error)) return <NoAnswer onAskAgain={onAskAgain} onForget={onForget} />;
  if (error instanceof Refused && error.status === 412) return <Stale error={error} onLookAgain={onLookAgain} />;
  return <ProblemAlert error={error} {...(error instanceof Refused && error.status === 422 ? { title: "Not done: something in it is not taken" } : {})} />;
}

/** Nobody knows yet whether it is stored. */
export function NoAnswer({ onAskAgain, onForget }: { onAskAgain: () => void; onForget: () => void }) {
  return (
    <Alert color="yellow" role="alert" title="No answer came">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">It may be stored, or not. Ask again: the same request with the same key is done once, and the answer tells which it is. Nothing that you typed is lost.</Text>
        <Group gap="sm">
          <Button size="xs" onClick={onAskAgain}>
            Ask again
          </Button>
          <Button size="xs" variant="default" onClick={onForget}>
            Do not ask again
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}

function Stale({ error, onLookAgain }: { error: Refused; onLookAgain: () => void }) {
  return (
    <Alert color="orange" role="alert" title="Not done: others have changed this since you looked">
      <Stack gap="xs" align="flex-start">
        <LastChanges error={error} />
        <Button size="xs" variant="default" onClick={onLookAgain}>
          Refresh
        </Button>
      </Stack>
    </Alert>
  );
}

/** Of a 412: who changed what, and when. */
export function LastChanges({ error }: { error: Refused }) {
  const { fleet } = usePlace();
  const { newest } = error.problem;
  if (error.faults.length === 0) {
    return (
      <Text size="sm" className="words" component="div">
        {error.message}
        {newest && <> The newest revision is <RevisionLink fleet={fleet} revision={newest.revision} />, by {newest.actor ?? "somebody"}.</>}
      </Text>
    );
  }
  return (
    <List size="sm">
      {error.faults.map((f, i) => (
        <List.Item key={i} className="words">
          {f.detail}
          {f.last_change && (
            <>
              {" "}
              (<RevisionLink fleet={fleet} revision={f.last_change.revision} />, <Ago at={f.last_change.at} />)
            </>
          )}
        </List.Item>
      ))}
    </List>
  );
}

export function RevisionLink({ fleet, revision }: { fleet: string; revision: number }) {
  return (
    <TextLink to="/fleets/$fleet/history/$revision" params={{ fleet, revision: String(revision) }} size="sm" underline="always">
      revision {revision}
    </TextLink>
  );
}

const isConfirm = (error: unknown): error is Refused => error instanceof Refused && error.status === 428;
