import { Anchor, Box, Button, Center, Code, Paper, PasswordInput, Stack, Text, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, Refused, take } from "../api/client";
import { problemWords } from "../ui/problem";
import { Brand } from "./brand";

interface Props {
  /** The session ended by itself, or elsewhere. */
  ended: boolean;
  onSignedIn: () => void;
}

export default function SignIn({ ended, onSignedIn }: Props) {
  const [token, setToken] = useState("");
  const signIn = useMutation({
    mutationFn: (t: string) => take(api.POST("/v1/session", { body: { token: t } })),
    onSuccess: onSignedIn,
  });
  useEffect(() => {
    document.title = "Sign in · Fairlead";
  }, []);
  return (
    <Center mih="80vh" p="md" component="main">
      <Paper withBorder p="xl" radius="lg" w="100%" maw="26rem">
        <form
          onSubmit={(e) => {
            e.preventDefault();
            signIn.mutate(token.trim());
          }}
        >
          <Stack gap="md">
            <Brand />
            <Title order={1} size="h3">
              Sign in
            </Title>
            {ended && (
              <Text size="sm" role="status">
                The session has ended. Sign in to go on where you were; drafts are kept in this browser, but for secrets.
              </Text>
            )}
            <PasswordInput
              label="API token"
              description="It is exchanged for a session, and not kept in this tab."
              placeholder="fla_…"
              value={token}
              onChange={(e) => setToken(e.currentTarget.value)}
              error={signIn.error === null ? undefined : words(signIn.error)}
              autoComplete="off"
              spellCheck={false}
              required
              withAsterisk={false}
              data-autofocus
            />
            <Button type="submit" loading={signIn.isPending}>
              Sign in
            </Button>
            <Box>
              <Text size="sm" c="dimmed">
                <Code>make run</Code> prints the address and a token. An owner makes more of them.{" "}
                <Anchor href="/docs" size="sm" underline="always">
                  API reference
                </Anchor>
              </Text>
            </Box>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}

function words(e: Error): string {
  if (e instanceof Refused && e.code === "unauthenticated") return "This token is not taken: it is damaged, has ended, or is not of this server.";
  return problemWords(e);
}
