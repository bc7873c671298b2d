import { List, Stack, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { BootstrapFile } from "../api/client";
import { CopyBlock } from "../ui/copy";
import { Loaded } from "../ui/loaded";
import { Section } from "../ui/page";
import { bootstrapParams, sendsToken, startCommand, wanted, type Words } from "./bootstrap";
import { bootstrapQuery } from "./queries";

interface Props {
  tenant: string;
  fleet: string;
  words: Words;
  token: string | undefined;
}

export function ConnectFiles({ tenant, fleet, words, token }: Props) {
  const w = wanted(words, fleet, location.hostname);
  const params = bootstrapParams(w, words);
  const files = useQuery({
    ...bootstrapQuery(tenant, fleet, params ?? { node_id: "", xds: [] }),
    enabled: params !== undefined,
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <Section title="3. The file that it starts with">
        {params === undefined ? (
          <Text size="sm">Say its node id and where the xDS server is.</Text>
        ) : (
          <Loaded query={files} height={360}>
            {(made) => (
              <Stack gap="md">
                {made.files.map((f) => (
                  <OneFile key={f.name} file={f} />
                ))}
                <List size="sm">
                  {made.notes.map((n) => (
                    <List.Item key={n} className="words">
                      {n}
                    </List.Item>
                  ))}
                </List>
              </Stack>
            )}
          </Loaded>
        )}
      </Section>
      <Section title="4. Start it">
        <Stack gap="sm">
          <CopyBlock text={startCommand(w, files.data?.files[0]?.name ?? "envoy.yaml", token)} label="the command" />
          {sendsToken(w) && (
            <Text size="sm" c="dimmed">
              {token === undefined ? "Put the token in its place. " : "The token stands in it. "}A shell keeps what is typed in its history: on a machine of others let a file be written by
              what keeps your secrets.
            </Text>
          )}
        </Stack>
      </Section>
    </>
  );
}

function OneFile({ file }: { file: BootstrapFile }) {
  return (
    <div>
      <Text size="sm" mb={4}>
        {file.path === undefined ? (
          <>
            Save it as <span className="mono">{file.name}</span>; there is no secret in it.
          </>
        ) : (
          <>
            And beside it <span className="mono">{file.path}</span>
          </>
        )}
      </Text>
      <CopyBlock text={file.text} label={file.name} />
    </div>
  );
}
