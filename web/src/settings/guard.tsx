// The guard rules, in words: who may write what makes a proxy run code, touch its machine or turn to somebody else.
import { Badge, Code, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { GuardRule, Role } from "../api/client";
import { useMe } from "../app/session";
import { Loaded } from "../ui/loaded";
import { DataTable } from "../ui/table";
import { guardQuery } from "./queries";

export function Guard() {
  const asked = useQuery(guardQuery);
  const { role } = useMe();
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        With some of Envoy's configuration a proxy can be made to run code, to read files, or to follow somebody else. The role of the token that writes decides whether it may. The rules are the installation's, the same for all fleets. What is
        stored already may be sent again unchanged, and everybody who writes may delete it.
      </Text>
      <Loaded query={asked} height={420}>
        {(guard) => (
          <>
            <DataTable
              label="Guard rules"
              rows={guard.items}
              keyOf={(r) => r.rule}
              columns={[
                { title: "Rule", kind: "short", cell: (r) => <span className="mono">{r.rule}</span> },
                { title: "What it names", cell: (r) => <span className="words">{r.covers}</span> },
                { title: "Who may write it", kind: "short", cell: (r) => <Writers rule={r} mine={role} /> },
              ]}
            />
            {guard.log_paths.length > 0 && (
              <Text size="sm" className="words">
                Everybody who writes may let a proxy write logs to {guard.log_paths.map((p, i) => [i > 0 && ", ", <Code key={p}>{p}</Code>])}.
              </Text>
            )}
          </>
        )}
      </Loaded>
    </Stack>
  );
}

/** Who may write what a rule names, from the least role up. */
export function writers(roles: readonly Role[]): string {
  const [least] = roles;
  if (least === undefined) return "nobody";
  return roles.length === 1 ? `${least} alone` : `${least} and above`;
}

function Writers({ rule, mine }: { rule: GuardRule; mine: Role | undefined }) {
  return (
    <Text size="sm" component="div">
      {writers(rule.roles)}{" "}
      {mine !== undefined && !rule.roles.includes(mine) && (
        <Badge variant="light" color="gray" tt="none">
          not you
        </Badge>
      )}
    </Text>
  );
}
