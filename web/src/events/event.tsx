// One event of a fleet, or a group that says the same of several nodes.
import { Badge, Box, Group, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Event } from "../api/client";
import { TextLink } from "../ui/link";
import { Ago } from "../ui/time";
import { attempts, deed, deniedWords, eventColor, kindWords } from "./words";

export function EventCard({ fleet, event: e }: { fleet: string; event: Event }) {
  return (
    <Box component="li" className="section">
      <Stack gap={6}>
        <Group justify="space-between" gap="xs" align="flex-start" wrap="nowrap">
          <Group gap="xs" flex={1} miw={0}>
            <Badge variant="light" color={eventColor[e.kind]} tt="none">
              {kindWords[e.kind]}
            </Badge>
            <Text size="sm" className="words">
              <Sentence fleet={fleet} event={e} />
            </Text>
          </Group>
          <Text size="sm" c="dimmed" style={{ whiteSpace: "nowrap" }}>
            <Ago at={e.at} />
          </Text>
        </Group>
        {e.reason !== undefined && <Text size="sm">{deniedWords[e.reason]}</Text>}
        {e.detail !== undefined && e.detail !== "" && (
          <Text component="blockquote" size="sm" m={0} pl="sm" className="words mono ev-quote">
            {e.detail}
          </Text>
        )}
        <About fleet={fleet} event={e} />
      </Stack>
    </Box>
  );
}

/** "3 nodes refused clusters/backend", each with its link. */
function Sentence({ fleet, event: e }: { fleet: string; event: Event }) {
  return (
    <>
      {e.kind !== "dropped" && <Who fleet={fleet} event={e} />} {deed(e)}
      {e.resource && (
        <>
          {" "}
          <TextLink to="/fleets/$fleet/resources/$type/$name" params={{ fleet, type: e.resource.type, name: e.resource.name }} inherit underline="always" fw={600}>
            {e.resource.type}/{e.resource.name}
          </TextLink>
        </>
      )}
    </>
  );
}

function Who({ fleet, event: e }: { fleet: string; event: Event }) {
  if (e.nodes !== undefined && e.nodes > 1) return <strong>{e.nodes} nodes</strong>;
  if (e.node === "") return e.kind === "denied" || e.kind === "withheld" ? "A client" : "A node";
  return <NodeLink fleet={fleet} node={e.node} />;
}

function NodeLink({ fleet, node }: { fleet: string; node: string }) {
  return (
    <TextLink to="/fleets/$fleet/nodes/$node" params={{ fleet, node }} inherit underline="always" fw={600}>
      {node}
    </TextLink>
  );
}

/** What was done, of which revision, and whom it is about. */
function About({ fleet, event: e }: { fleet: string; event: Event }) {
  const facts: ReactNode[] = [];
  const often = attempts(e);
  if (e.action !== undefined && e.action !== "") facts.push(<>What was done: {e.action}</>);
  if (e.revision !== undefined && e.revision > 0) {
    facts.push(
      <>
        {e.kind === "recovered" ? "ended by" : "of"}{" "}
        <TextLink to="/fleets/$fleet/history/$revision" params={{ fleet, revision: String(e.revision) }} inherit underline="always">
          revision {e.revision}
        </TextLink>
      </>,
    );
  }
  if (often !== undefined) facts.push(often);
  if (e.address !== undefined) facts.push(<>from {e.address}</>);
  if (e.credential !== undefined) facts.push(<>with the credential {e.credential}</>);
  if (e.first_at !== undefined && e.first_at !== e.at) {
    facts.push(
      <>
        first <Ago at={e.first_at} />
      </>,
    );
  }
  const ids = e.nodes !== undefined && e.nodes > 1 ? (e.node_ids ?? []) : [];
  if (facts.length === 0 && ids.length === 0) return null;
  return (
    <Text size="xs" c="dimmed" component="div" className="words">
      {facts.map((f, i) => (
        <span key={i}>
          {i > 0 && " · "}
          {f}
        </span>
      ))}
      {ids.length > 0 && (
        <div>
          Nodes:{" "}
          {ids.map((id, i) => (
            <span key={id}>
              {i > 0 && ", "}
              <NodeLink fleet={fleet} node={id} />
            </span>
          ))}
          {e.nodes !== undefined && e.nodes > ids.length && ` and ${e.nodes - ids.length} more`}
        </div>
      )}
    </Text>
  );
}
