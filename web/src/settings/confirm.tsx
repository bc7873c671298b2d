// What cannot be undone is asked about first. Where the server asks too (428), its reasons are told and it is asked once more.
import { Alert, Button, Group, List, Modal, Stack, Text, TextInput, type ButtonProps } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Refused, type ConfirmReason } from "../api/client";
import { ProblemAlert } from "../ui/problem";

interface Props {
  /** The words of the button that asks. */
  label: string;
  /** What a screen reader says of it, where several buttons have the same words. */
  name?: string;
  title: string;
  /** What will happen. */
  children: ReactNode;
  /** The words of the button that does it. */
  doIt: string;
  /** What is to be typed before it can be done. */
  type?: string;
  harmless?: boolean;
  variant?: ButtonProps["variant"];
  action: (confirm?: string) => Promise<unknown>;
  onDone?: () => void;
}

export function ConfirmButton(props: Props) {
  const [open, setOpen] = useState(false);
  const { label, name, title, harmless = false, variant = "default" } = props;
  return (
    <>
      <Button size="xs" variant={variant} {...(harmless ? {} : { c: "red" })} aria-label={name} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <Modal opened={open} onClose={() => setOpen(false)} title={title} closeButtonProps={{ "aria-label": "Close" }}>
        <Question {...props} close={() => setOpen(false)} />
      </Modal>
    </>
  );
}

/** What the server wants to have confirmed, if that is what it answered. */
export function askedBack(error: unknown): { token: string; reasons: ConfirmReason[] } | undefined {
  if (!(error instanceof Refused) || error.status !== 428 || error.problem.token === undefined) return undefined;
  return { token: error.problem.token, reasons: error.problem.confirm ?? [] };
}

function Question({ children, doIt, type, harmless = false, action, onDone, close }: Props & { close: () => void }) {
  const [typed, setTyped] = useState("");
  const act = useMutation({
    mutationFn: (confirm?: string) => action(confirm),
    onSuccess: () => {
      close();
      onDone?.();
    },
  });
  const back = askedBack(act.error);
  const ready = type === undefined || typed === type;
  return (
    <Stack gap="md">
      <Text size="sm" component="div" className="words">
        {children}
      </Text>
      {type !== undefined && <TextInput label={`Type ${type} to go on`} value={typed} onChange={(e) => setTyped(e.currentTarget.value)} autoComplete="off" data-autofocus />}
      {back ? <Reasons reasons={back.reasons} /> : act.error !== null && <ProblemAlert error={act.error} />}
      <Group justify="flex-end" gap="sm">
        <Button variant="default" onClick={close}>
          Leave it
        </Button>
        <Button {...(harmless ? {} : { color: "red.9" })} disabled={!ready} loading={act.isPending} onClick={() => act.mutate(back?.token)}>
          {back ? `${doIt} all the same` : doIt}
        </Button>
      </Group>
    </Stack>
  );
}

function Reasons({ reasons }: { reasons: readonly ConfirmReason[] }) {
  return (
    <Alert color="orange" role="alert" title="The server asks once more">
      <List size="sm">
        {reasons.map((r) => (
          <List.Item key={r.code} className="words">
            {r.detail}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
