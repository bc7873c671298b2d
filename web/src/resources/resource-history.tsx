import { Badge, Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ResourceChange } from "../api/client";
import { usePlace } from "../app/place";
import { TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Empty, Section } from "../ui/page";
import { DataTable, type Column } from "../ui/table";
import { Ago } from "../ui/time";
import type { Identity } from "./document";
import { resourceHistoryQuery } from "./queries";

const colors = { create: "teal", update: "blue", delete: "red", unchanged: "gray" } as const;
const words = { create: "created", update: "changed", delete: "deleted", unchanged: "unchanged" } as const;

/** Who changed it, when and why. */
export function ResourceHistory({ id }: { id: Identity }) {
  const { tenant, fleet } = usePlace();
  const [cursor, setCursor] = useState<string>();
  const query = useQuery(resourceHistoryQuery(tenant, fleet, id.type, id.name, id.variant, cursor));
  const columns: Column<ResourceChange>[] = [
    { title: "Revision", cell: (c) => <TextLink to="/fleets/$fleet/history/$revision" params={{ fleet, revision: String(c.revision) }} size="sm">Revision {c.revision}</TextLink> },
    { title: "What", cell: (c) => <Badge variant="light" color={colors[c.action]} tt="none">{words[c.action]}</Badge> },
    { title: "Kind", half: true, cell: (c) => c.kind },
    { title: "When", cell: (c) => <><Ago at={c.at} />{c.actor ? ` by ${c.actor}` : ""}</> },
    { title: "Message", cell: (c) => <span className="words">{c.message}</span> },
  ];
  return (
    <Section title="History" aside={cursor !== undefined && <Button size="compact-sm" variant="default" onClick={() => setCursor(undefined)}>Newest</Button>}>
      <Loaded query={query} height={120}>
        {(page) => (
          <>
            {page.items.length === 0 ? <Empty title="Nothing is known of its history" /> : <DataTable label="History of this resource" columns={columns} rows={page.items} keyOf={(c) => String(c.revision)} />}
            {page.next_cursor !== undefined && <Button size="compact-sm" variant="default" mt="sm" onClick={() => setCursor(page.next_cursor)}>Older</Button>}
          </>
        )}
      </Loaded>
    </Section>
  );
}
