import { Code, Text } from "@mantine/core";
import type { AuditEvent } from "../api/client";
import { TextLink } from "../ui/link";
import { DataTable } from "../ui/table";
import { Ago } from "../ui/time";
import { auditKinds, changedResources, detailWords } from "./words";

interface Props {
  items: readonly AuditEvent[];
  /** Whether fleets are shown as links: an operator cannot follow them. */
  linked: boolean;
}

export function AuditTable({ items, linked }: Props) {
  return (
    <DataTable
      label="Audit"
      rows={items}
      keyOf={(e) => `${e.at} ${e.kind} ${e.object} ${e.request_id ?? ""}`}
      columns={[
        { title: "When", kind: "short", cell: (e) => <Ago at={e.at} /> },
        {
          title: "Who",
          half: true,
          cell: (e) => (
            <Text size="sm" className="words">
              {e.by.kind === "operator" ? "the operator " : ""}
              {e.by.kind === "server" ? "the server" : e.by.name}
            </Text>
          ),
        },
        { title: "What", cell: (e) => <What event={e} linked={linked} /> },
        { title: "Fleet", half: true, cell: (e) => <FleetOf event={e} linked={linked} /> },
        { title: "From", half: true, cell: (e) => e.address !== undefined && (
            <Text span className="mono" display="inline-block" miw="8rem">
              {e.address}
            </Text>
          ) },
      ]}
    />
  );
}

function FleetOf({ event: e, linked }: { event: AuditEvent; linked: boolean }) {
  if (e.fleet === undefined) return null;
  if (!linked) return <span className="words">{e.fleet}</span>;
  return (
    <>
      <TextLink to="/fleets/$fleet" params={{ fleet: e.fleet }} className="words" size="sm">
        {e.fleet}
      </TextLink>
      {e.new_revision !== undefined && (
        <Text size="xs" miw="max-content">
          <TextLink to="/fleets/$fleet/history/$revision" params={{ fleet: e.fleet, revision: String(e.new_revision) }} inherit underline="always">
            revision {e.new_revision}
          </TextLink>
        </Text>
      )}
    </>
  );
}

function What({ event: e, linked }: { event: AuditEvent; linked: boolean }) {
  const resources = changedResources(e.detail);
  const words = detailWords(e.detail);
  const name = e.detail?.name;
  return (
    <>
      <Text size="sm">
        {auditKinds[e.kind] ?? e.kind}
        {typeof name === "string" && <span className="words"> “{name}”</span>}{" "}
        <Text span size="xs" c="dimmed" className="mono">
          {e.kind}
        </Text>
      </Text>
      <details>
        <summary className="ev-more">{e.object === "" ? "More" : e.object}</summary>
        <ul className="ev-facts">
          {words.map(([key, value]) => (
            <li key={key} className="words">
              {key}: <Code>{value}</Code>
            </li>
          ))}
          {resources.map((r, i) => (
            <li key={i} className="words">
              {r.verb} {r.type}{" "}
              {linked && e.fleet !== undefined && r.verb !== "delete" ? (
                <TextLink to="/fleets/$fleet/resources/$type/$name" params={{ fleet: e.fleet, type: r.type, name: r.name }} inherit underline="always">
                  {r.name}
                </TextLink>
              ) : (
                r.name
              )}
              {r.variant !== "" && ` (variant ${r.variant})`}
            </li>
          ))}
          {e.by.id !== undefined && <li className="words">token {e.by.id}</li>}
          {e.request_id !== undefined && <li className="words">request {e.request_id}</li>}
        </ul>
      </details>
    </>
  );
}
