import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Section } from "../ui/page";
import { FindingLine, findingTotals } from "./finding";
import { findings } from "./queries";

/** The worst of what is wrong in the fleet. */
export function TopFindings({ tenant, fleet }: { tenant: string; fleet: string }) {
  const worst = useQuery(findings(tenant, fleet, { limit: 5 }));
  return (
    <Section title="What is wrong, or soon will be" aside={<TextLink to="/fleets/$fleet/findings" params={{ fleet }} size="sm">{worst.data ? findingTotals(worst.data) : "all"}</TextLink>}>
      <Loaded query={worst} height={120}>
        {(l) =>
          l.items.length === 0 ? (
            <Text size="sm" c="dimmed">
              Nothing: every reference leads somewhere, no certificate is about to expire.
            </Text>
          ) : (
            <Stack component="ul" gap="sm" p={0} m={0}>
              {l.items.map((f, i) => (
                <FindingLine key={i} fleet={fleet} finding={f} />
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Section>
  );
}
