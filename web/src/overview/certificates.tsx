import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Resource } from "../api/client";
import { TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Section } from "../ui/page";
import { Ago } from "../ui/time";
import { FindingLine } from "./finding";
import { findings, secrets } from "./queries";

/** The certificates that have ended or will soon, wherever they stand, and which of the secrets is next. */
export function Certificates({ tenant, fleet }: { tenant: string; fleet: string }) {
  const ended = useQuery(findings(tenant, fleet, { code: "certificate_expired", limit: 5 }));
  const ending = useQuery(findings(tenant, fleet, { code: "certificate_expires", limit: 5 }));
  const all = useQuery(secrets(tenant, fleet));
  return (
    <Section title="Certificates">
      <Stack gap="sm">
        <Loaded query={ended} height={24}>
          {(a) => (
            <Loaded query={ending} height={24}>
              {(b) =>
                a.items.length + b.items.length === 0 ? (
                  <Text size="sm">None has expired, and none does within 30 days.</Text>
                ) : (
                  <Stack component="ul" gap="sm" p={0} m={0}>
                    {[...a.items, ...b.items].map((f, i) => (
                      <FindingLine key={i} fleet={fleet} finding={f} />
                    ))}
                    {(a.next_cursor ?? b.next_cursor) !== undefined && (
                      <Text component="li" size="sm" display="block">
                        There are more:{" "}
                        <TextLink to="/fleets/$fleet/findings" params={{ fleet }} search={{ code: a.next_cursor ? "certificate_expired" : "certificate_expires" }} size="sm">
                          all of them
                        </TextLink>
                      </Text>
                    )}
                  </Stack>
                )
              }
            </Loaded>
          )}
        </Loaded>
        <Loaded query={all} height={24}>
          {(page) => <Next fleet={fleet} of={nextToEnd(page.items)} more={page.next_cursor !== undefined} />}
        </Loaded>
      </Stack>
    </Section>
  );
}

/** The secret whose certificate ends first. */
export function nextToEnd(secrets: readonly Resource[]): { resource: Resource; at: string } | undefined {
  let next: { resource: Resource; at: string } | undefined;
  for (const resource of secrets) {
    const at = resource.secret?.not_after;
    if (at !== undefined && (next === undefined || Date.parse(at) < Date.parse(next.at))) next = { resource, at };
  }
  return next;
}

function Next({ fleet, of, more }: { fleet: string; of: ReturnType<typeof nextToEnd>; more: boolean }) {
  if (of === undefined) {
    return (
      <Text size="sm" c="dimmed">
        No secret of this fleet holds a certificate.
      </Text>
    );
  }
  return (
    <Text size="sm" c="dimmed" className="words">
      Of the {more ? "first 500 " : ""}secrets the first to expire is{" "}
      <TextLink to="/fleets/$fleet/resources/$type/$name" params={{ fleet, type: "secrets", name: of.resource.name }} size="sm">
        {of.resource.name}
      </TextLink>
      {": "}
      <Ago at={of.at} />.
    </Text>
  );
}
