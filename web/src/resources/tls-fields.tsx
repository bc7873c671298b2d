// The fields for a certificate and its key. What is typed into them stays in the tab.
import { Button, Group, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";

interface Props {
  action: string;
  onDone: (certificate: string, key: string) => void;
  onCancel?: () => void;
  disabled?: boolean;
}

const isPem = (text: string, what: RegExp) => text.trim() === "" || what.test(text);

export function TlsFields({ action, onDone, onCancel, disabled = false }: Props) {
  const [certificate, setCertificate] = useState("");
  const [key, setKey] = useState("");
  const certificateOk = isPem(certificate, /-----BEGIN CERTIFICATE-----[\s\S]*-----END CERTIFICATE-----/);
  const keyOk = isPem(key, /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*-----END [A-Z ]*PRIVATE KEY-----/);
  const ready = certificate.trim() !== "" && key.trim() !== "" && certificateOk && keyOk && !disabled;
  return (
    <Stack
      gap="sm"
      component="form"
      aria-label="Certificate and key"
      onSubmit={(e) => {
        e.preventDefault();
        if (!ready) return;
        onDone(`${certificate.trim()}\n`, `${key.trim()}\n`);
        setKey("");
      }}
    >
      <Textarea label="Certificate chain, PEM" description="The server's own certificate first." value={certificate} onChange={(e) => setCertificate(e.currentTarget.value)} error={certificateOk ? undefined : "This is no PEM certificate."} rows={5} resize="vertical" required classNames={{ input: "mono" }} spellCheck={false} />
      <Textarea label="Private key, PEM" description="It stays in this tab, goes to the server when you publish, and comes back from nowhere." value={key} onChange={(e) => setKey(e.currentTarget.value)} error={keyOk ? undefined : "This is no PEM private key."} rows={5} resize="vertical" required classNames={{ input: "mono" }} spellCheck={false} autoComplete="off" />
      <Group gap="sm">
        <Button type="submit" disabled={!ready}>{action}</Button>
        {onCancel && <Button variant="default" onClick={onCancel}>Cancel</Button>}
        {disabled && <Text size="sm" c="dimmed">Give it a name first.</Text>}
      </Group>
    </Stack>
  );
}
