// What a node waits for, and what to do about it.
import { List, Text } from "@mantine/core";
import type { Node } from "../api/client";
import { Section } from "../ui/page";
import { RefLink, RevisionLink } from "./refs";
import { noEnvoyWords, refText, warmingHint, warmingWords, withheldWords } from "./words";

export function WaitsFor({ node }: { node: Node }) {
  const w = node.waits ?? { withheld: [], warming: [], withheld_by: [] };
  const noEnvoy = node.user_agent === "fairlead-sync-no-envoy" && node.state !== "offline";
  if (!node.waits && !noEnvoy) return null;
  return (
    <Section title="What it waits for">
      {noEnvoy && <Text size="sm">{`An Envoy: ${noEnvoyWords}.`}</Text>}
      {w.withheld.length > 0 && (
        <>
          <Text size="sm" mb={4}>
            Kept from it, at the last known good version or away:
          </Text>
          <List size="sm" mb="sm">
            {w.withheld.map((h) => (
              <List.Item key={`${refText(h.resource)} ${refText(h.by)} ${h.revision ?? ""}`} className="words">
                <RefLink of={h.resource} />
                {h.revision !== undefined && (
                  <>
                    {" of "}
                    <RevisionLink of={h.revision} />
                  </>
                )}
                {h.reason !== "too_large" && (
                  <>
                    {" waits for "}
                    <RefLink of={h.by} />
                    {", which"}
                  </>
                )}
                {` ${withheldWords[h.reason]}`}
              </List.Item>
            ))}
          </List>
        </>
      )}
      {w.warming.length > 0 && (
        <>
          <Text size="sm" mb={4}>
            {`Each of these ${warmingWords}. ${warmingHint}`}
          </Text>
          <List size="sm" mb="sm">
            {w.warming.map((r) => (
              <List.Item key={refText(r)}>
                <RefLink of={r} />
              </List.Item>
            ))}
          </List>
        </>
      )}
      {w.more !== undefined && w.more > 0 && <Text size="sm" c="dimmed">{`and ${w.more} more`}</Text>}
    </Section>
  );
}
