// What a node waits for, and what to do about it.
import { List, Text } from "@mantine/core";
import type { Node } from "../api/client";
import { Section } from "../ui/page";
import { RefLink, RevisionLink } from "./refs";
import { refText, withheldWords } from "./words";

export function WaitsFor({ node }: { node: Node }) {
  const w = node.waits;
  if (!w) return null;
  return (
    <Section title="What it waits for">
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
            Sent to it and not answered yet, as something that they need is still open (endpoints, a secret, DNS, a first health check):
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
