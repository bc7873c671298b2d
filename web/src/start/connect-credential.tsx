import { Alert, Button, Code, Group, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, take } from "../api/client";
import { may, useMe } from "../app/session";
import { CopyBlock } from "../ui/copy";
import { Section } from "../ui/page";
import { ProblemAlert } from "../ui/problem";
import { Ago } from "../ui/time";
import { admits, sendsToken, type Wanted } from "./bootstrap";

/** A credential with its token, as long as the page is open. */
export interface Made {
  token: string;
  nodes: string;
  expires: string | undefined;
}

interface Props {
  tenant: string;
  fleet: string;
  wanted: Wanted;
  made: Made | undefined;
  onMade: (made: Made) => void;
}

export function ConnectCredential({ tenant, fleet, wanted: w, made, onMade }: Props) {
  const me = useMe();
  return (
    <Section title="2. Its token">
      {!sendsToken(w) ? (
        <Text size="sm">
          A gRPC client sends no token without TLS. It reaches Fairlead through a relay on its own machine, which adds one: choose the relay above for that one&apos;s file. A server
          for trying things out can take clients without a token (<Code>fairlead dev --open-xds</Code>).
        </Text>
      ) : made !== undefined ? (
        <Shown made={made} node={w.node} />
      ) : may(me, "admin") ? (
        <Make key={w.node} tenant={tenant} fleet={fleet} node={w.node} onMade={onMade} />
      ) : (
        <Text size="sm">An admin or an owner of the tenant makes node credentials; your role cannot. With a token that they gave you, go on below.</Text>
      )}
    </Section>
  );
}

function Make({ tenant, fleet, node, onMade }: { tenant: string; fleet: string; node: string; onMade: (made: Made) => void }) {
  const [nodes, setNodes] = useState(node);
  const client = useQueryClient();
  const make = useMutation({
    mutationFn: () =>
      take(
        api.POST("/v1/tenants/{tenant}/fleets/{fleet}/credentials", {
          params: { path: { tenant, fleet } },
          body: { nodes, description: "made while connecting a node" },
        }),
      ),
    onSuccess: ({ token, credential }) => {
      void client.invalidateQueries({ queryKey: ["credentials"] });
      onMade({ token, nodes: credential.nodes, expires: credential.expires_at });
    },
  });
  return (
    <form
      aria-label="Make a node credential"
      onSubmit={(e) => {
        e.preventDefault();
        make.mutate();
      }}
    >
      <Stack gap="sm">
        <Group align="flex-end" gap="sm">
          <TextInput
            label="Node ids that may use it"
            description="One id, or a beginning with a star, such as edge-*"
            value={nodes}
            onChange={(e) => setNodes(e.currentTarget.value)}
            error={nodes === "" || admits(nodes, node) ? undefined : `It would not admit ${node}.`}
            maxLength={512}
            required
            withAsterisk={false}
            autoComplete="off"
            spellCheck={false}
            flex="1 1 16rem"
            maw="26rem"
          />
          <Button type="submit" loading={make.isPending} disabled={nodes === ""}>
            Make the token
          </Button>
        </Group>
        <Text size="sm" c="dimmed">
          Who holds it gets the configuration of this fleet and nothing else. It ends after 90 days; the fleet&apos;s settings list and revoke it.
        </Text>
        {make.error && <ProblemAlert error={make.error} title="The token was not made" />}
      </Stack>
    </form>
  );
}

function Shown({ made, node }: { made: Made; node: string }) {
  return (
    <Stack gap="sm">
      <Text size="sm" role="status">
        This is the token of nodes <Code>{made.nodes}</Code>. It is shown this once, and it already stands in the command below. It ends <Ago at={made.expires} />.
      </Text>
      <CopyBlock text={made.token} label="the node token" />
      {!admits(made.nodes, node) && (
        <Alert color="yellow" title="It is not this node's">
          The token admits {made.nodes} and not {node}. Take a node id of its own, or reload this page and create another token.
        </Alert>
      )}
    </Stack>
  );
}
