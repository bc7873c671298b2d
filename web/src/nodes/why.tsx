// Why the node has this version of a resource and no other.
import { List, Stack, Text, Title } from "@mantine/core";
import type { NodeReason, Requirement, VariantReason } from "../api/client";
import { DataTable } from "../ui/table";

export function Why({ of: { because, why, resource } }: { of: NodeReason }) {
  return (
    <Stack gap="xs" component="section" aria-label="Why does it have this?">
      <Title order={3} size="h5">
        {resource.state === "unmatched" ? "Why has it none?" : "Why does it have this?"}
      </Title>
      <Text size="sm" className="words">
        {`${because.slice(0, 1).toUpperCase()}${because.slice(1)}.`}
      </Text>
      {why.requirements && why.requirements.length > 0 && <Requirements of={why.requirements} />}
      {why.passed_over.length > 0 && (
        <>
          <Text size="sm" fw={600} mt="xs">
            Passed over
          </Text>
          <DataTable
            label="Variants that were skipped"
            rows={why.passed_over}
            keyOf={(v) => v.variant}
            columns={[
              { title: "Variant", cell: (v) => <span className="mono">{v.variant === "" ? "default" : v.variant}</span> },
              { title: "Priority", kind: "number", cell: (v) => v.priority },
              { title: "Because", cell: (v) => <Because of={v} /> },
            ]}
          />
        </>
      )}
    </Stack>
  );
}

function Because({ of: v }: { of: VariantReason }) {
  if (v.matches) return "it matches, but the one that the node has goes before it";
  return <Requirements of={v.requirements} />;
}

function Requirements({ of }: { of: readonly Requirement[] }) {
  return (
    <List size="sm" listStyleType="none">
      {of.map((r) => (
        <List.Item key={r.requirement}>
          <span aria-hidden="true">{r.holds ? "✓ " : "✗ "}</span>
          <span className="mono">{r.requirement}</span>
          {r.holds ? " holds" : r.has === undefined ? " does not hold: the node has no such label" : " does not hold: the node has "}
          {!r.holds && r.has !== undefined && <span className="mono">{r.has}</span>}
        </List.Item>
      ))}
    </List>
  );
}
