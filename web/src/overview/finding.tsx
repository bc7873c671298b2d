// How a finding is told, in lists and by itself.
import { Badge, Box, Group, Text } from "@mantine/core";
import type { Finding, FindingCode, FindingList, FindingSeverity } from "../api/client";
import { TextLink } from "../ui/link";

export const severityColor: Record<FindingSeverity, string> = { error: "red", warning: "yellow", info: "gray" };

export const codeWords: Record<FindingCode, string> = {
  missing_reference: "names what does not exist",
  missing_for_nodes: "names what some nodes do not have",
  certificate_expired: "certificate has expired",
  certificate_expires: "certificate expires soon",
  credential_expires: "a node credential expires",
  token_expires: "an API token expires",
  sealed_for_another_key: "no server can open a secret",
  endpoints_held: "endpoints whose leases have expired",
  requests_fail: "a fifth of its requests fail",
  not_called: "no proxy has called it for seven days",
  key_mismatch: "key is not the certificate's",
  duplicate_domain: "domain stands twice",
  static_cluster: "cluster is in the bootstrap already",
  value_changed: "written with another value",
  variant_tie: "variants tie",
  variant_unmatched: "variant matches no node",
  variant_shadowed: "variant is always skipped",
  unreachable: "nothing leads to it",
  names_bootstrap: "lends the proxy's identity",
  old_bootstrap: "nodes run an old bootstrap",
  unserved_type: "asks for a type that is not served",
  set_too_large: "does not fit into what nodes take at once",
  delivered_by_name: "names what is delivered by name alone",
  needs_contrib: "needs a build of Envoy with contrib",
};

export function SeverityBadge({ severity }: { severity: FindingSeverity }) {
  return (
    <Badge variant="light" color={severityColor[severity]} miw="max-content">
      {severity}
    </Badge>
  );
}

/** The resource that the finding is of, at its place. */
export function FindingLink({ fleet, finding: f }: { fleet: string; finding: Finding }) {
  if (f.code === "token_expires")
    return (
      <TextLink to="/settings" size="sm" fw={600} className="words">
        API token
      </TextLink>
    );
  if (f.code === "old_bootstrap" || f.code === "credential_expires") // of nodes, and of no resource that one wrote
    return (
      <TextLink to="/fleets/$fleet/nodes" params={{ fleet }} size="sm" fw={600} className="words">
        {f.nodes === 1 ? "1 node" : `${f.nodes ?? 0} nodes`}
      </TextLink>
    );
  return (
    <TextLink to="/fleets/$fleet/resources/$type/$name" params={{ fleet, type: f.type, name: f.name }} search={{ variant: f.variant, pointer: f.pointer || undefined }} size="sm" fw={600} className="words">
      {f.type}/{f.name}
      {f.variant === undefined ? "" : ` (variant ${f.variant})`}
    </TextLink>
  );
}

/** One finding in a short list. */
export function FindingLine({ fleet, finding: f }: { fleet: string; finding: Finding }) {
  return (
    <Group component="li" gap="sm" wrap="nowrap" align="flex-start">
      <Box flex="none" miw="5.2rem">
        <SeverityBadge severity={f.severity} />
      </Box>
      <Box miw={0}>
        <FindingLink fleet={fleet} finding={f} />
        <Text size="sm" className="words">
          {f.detail}
        </Text>
      </Box>
    </Group>
  );
}

const many = (n: number, word: string) => (n === 1 ? `1 ${word}` : `${n} ${word}s`);

/** "2 errors, 1 warning": all of the fleet, whatever the filters. */
export function findingTotals(l: Pick<FindingList, "errors" | "warnings" | "infos">): string {
  const parts: string[] = [];
  if (l.errors > 0) parts.push(many(l.errors, "error"));
  if (l.warnings > 0) parts.push(many(l.warnings, "warning"));
  if (l.infos > 0) parts.push(many(l.infos, "info"));
  return parts.length === 0 ? "nothing found" : parts.join(", ");
}
