// The write of a promotion: exactly what the plan showed, or nothing.
import { Alert, Button, Checkbox, Group, List, Stack, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, isPassing, Refused, take, type ConfirmReason, type FieldError, type Plan } from "../api/client";
import { ProblemAlert } from "../ui/problem";
import type { Content } from "./promote-content";

interface Props {
  tenant: string;
  from: string;
  to: string;
  content: Content;
  plan: Plan;
  placeOf: (f: FieldError) => FieldError;
  /** Makes the plan anew. */
  again: () => void;
}

interface Write {
  /** A token that confirms: the plan's own, or that of an answer that asked. */
  confirm: string | undefined;
  message: string;
  /** Names the request: a repeat of it is made once. */
  key: string;
}

export function Apply({ tenant, from, to, content, plan, placeOf, again }: Props) {
  const navigate = useNavigate();
  const [message, setMessage] = useState(`promoted from ${from}, revision ${content.revision}`);
  const [meant, setMeant] = useState(false);
  const write = useMutation({
    mutationFn: ({ confirm, message: why, key }: Write) =>
      take(
        api.POST("/v1/tenants/{tenant}/fleets/{fleet}/apply", {
          params: { path: { tenant, fleet: to }, header: { "Idempotency-Key": key } },
          body: { ...content.input, message: why, ...(confirm === undefined ? { plan: plan.token } : { confirm }) },
        }),
      ),
    onSuccess: ({ revision }) => void navigate({ to: "/fleets/$fleet/history/$revision", params: { fleet: to, revision: String(revision) } }),
  });
  const asks = plan.confirm.length > 0;
  const changes = plan.counts.create + plan.counts.update + plan.counts.delete;
  if (changes === 0) return <Alert color="teal" role="status">{to} has all of it already: there is nothing to write.</Alert>;
  const { error } = write;
  const asked = error instanceof Refused && error.status === 428 ? error.problem : undefined;
  const stale = error instanceof Refused && error.status === 412;
  return (
    <Stack gap="sm">
      {asks && (
        <Alert color="yellow" title="This is to be confirmed">
          <Reasons reasons={plan.confirm} />
          <Checkbox mt="sm" label="That is meant" checked={meant} onChange={(e) => setMeant(e.currentTarget.checked)} />
        </Alert>
      )}
      <Group align="flex-end" gap="sm">
        <TextInput label="Message" description="Why, for the history" value={message} onChange={(e) => setMessage(e.currentTarget.value)} maxLength={1024} flex="1 1 18rem" />
        <Button loading={write.isPending} disabled={asks && !meant} onClick={() => write.mutate({ confirm: asks ? plan.token : undefined, message, key: newKey() })}>
          Publish {changes} {changes === 1 ? "change" : "changes"} on {to}
        </Button>
      </Group>
      {asked && (
        <Alert color="yellow" role="alert" title="It asks once more">
          <Reasons reasons={asked.confirm ?? []} />
          <Button mt="sm" color="red" loading={write.isPending} onClick={() => write.mutate({ confirm: asked.token, message, key: newKey() })}>
            That is meant: publish
          </Button>
        </Alert>
      )}
      {error && !asked && (
        <Stack gap="xs" align="flex-start">
          <ProblemAlert error={withPlaces(error, placeOf)} {...(stale ? { title: `${to} was changed since the plan: nothing is written` } : {})} retry={isPassing(error) ? () => write.mutate(write.variables) : undefined} />
          {stale && <Button variant="default" onClick={again}>Refresh the plan</Button>}
        </Stack>
      )}
    </Stack>
  );
}

function Reasons({ reasons }: { reasons: readonly ConfirmReason[] }) {
  return (
    <List size="sm">
      {reasons.map((r, i) => (
        <List.Item key={i} className="words">{r.detail}</List.Item>
      ))}
    </List>
  );
}

/** The same error, its faults told by the names of resources. */
export function withPlaces(error: Error, placeOf: (f: FieldError) => FieldError): Error {
  return error instanceof Refused ? new Refused({ ...error.problem, errors: error.faults.map(placeOf) }) : error;
}

/** Not crypto.randomUUID, which a page over plain HTTP does not have. */
function newKey(): string {
  return `page-${[...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("")}`;
}
