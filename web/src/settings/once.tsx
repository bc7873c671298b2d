// A secret that was just made. It is in this tab alone, until it is closed.
import { Alert, Button, Stack, Text } from "@mantine/core";
import { CopyBlock } from "../ui/copy";

export function ShownOnce({ what, secret, about, close }: { what: string; secret: string; about?: string; close: () => void }) {
  return (
    <Stack gap="md" align="stretch">
      <Alert color="orange" role="status" title="It is shown this once">
        Copy it now and keep it where secrets are kept. Nobody can show it again; if it is lost, make another one.
      </Alert>
      <CopyBlock text={secret} label={what} />
      {about !== undefined && (
        <Text size="sm" className="words">
          {about}
        </Text>
      )}
      <Button onClick={close}>I have it</Button>
    </Stack>
  );
}
