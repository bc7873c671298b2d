import { Collapse, Button, NativeSelect, SimpleGrid, Stack, Switch, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Section } from "../ui/page";
import { useFilters } from "../ui/search";
import { clients, sendsToken, type Wanted } from "./bootstrap";

interface FieldProps {
  name: string;
  label: string;
  about?: string;
  value?: string;
}

/** A question whose answer stands in the address. */
function Field({ name, label, about, value }: FieldProps) {
  const [words, set] = useFilters();
  return (
    <TextInput
      label={label}
      description={about}
      defaultValue={words[name] ?? value ?? ""}
      placeholder={value}
      onChange={(e) => set({ [name]: e.currentTarget.value.trim() || undefined })}
      maxLength={512}
      autoComplete="off"
      spellCheck={false}
    />
  );
}

export function ConnectQuestions({ wanted: w }: { wanted: Wanted }) {
  const [, set] = useFilters();
  const [more, { toggle }] = useDisclosure(false);
  return (
    <Section title="1. What connects">
      <Stack gap="md">
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
          <NativeSelect
            label="Client"
            description="What starts with the file."
            data={[...clients]}
            value={w.client}
            onChange={(e) => set({ client: e.currentTarget.value, plaintext: undefined, token_file: undefined, sotw: undefined })}
          />
          <Field name="node" label="Node id" about="Another one for each node." value={w.node} />
          <Field name="xds" label="xDS server" about="host:port of Fairlead's xDS server, as the node reaches it." value={w.xds} />
          <Switch
            label="Without TLS"
            description="The token crosses the wire in the clear: for a server on the same machine."
            checked={w.plaintext}
            disabled={w.client === "google-grpc"}
            onChange={(e) => set({ plaintext: String(e.currentTarget.checked), token_file: undefined })}
          />
        </SimpleGrid>
        <Button variant="subtle" size="compact-sm" onClick={toggle} aria-expanded={more} style={{ alignSelf: "flex-start" }}>
          {more ? "Fewer questions" : "More: labels, certificates, token file"}
        </Button>
        <Collapse expanded={more}>
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
            <Field name="cluster" label="Node cluster" about="The client's node.cluster." />
            <Field name="label" label="Labels" about="As selectors name them, with commas between: metadata.canary=true" />
            <Field name="region" label="Region" />
            <Field name="zone" label="Zone" />
            {sendsToken(w) && <Field key={`${w.client}/${w.plaintext}`} name="token_file" label="Token file" about="On the node's machine. Left empty, an Envoy reads the variable FAIRLEAD_NODE_TOKEN." value={w.tokenFile} />}
            {!w.plaintext && <Field name="ca_file" label="CA file" about="That the server's certificate is checked against; the system's, if left empty." />}
            {!w.plaintext && <Field name="server_name" label="Server name" about="In the server's certificate; the host of the address, if left empty." />}
          </SimpleGrid>
        </Collapse>
      </Stack>
    </Section>
  );
}
