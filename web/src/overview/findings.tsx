// All findings of a fleet.
import { Button, Group, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import type { Finding, FindingCode, FindingSeverity, ResourceType } from "../api/client";
import { usePlace } from "../app/place";
import { TextLink } from "../ui/link";
import { FilterFold } from "../ui/filters";
import { Loaded } from "../ui/loaded";
import { Empty, Page } from "../ui/page";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import { DataTable } from "../ui/table";
import { codeWords, FindingLink, findingTotals, SeverityBadge } from "./finding";
import { findings, type FindingFilter } from "./queries";

const severities: readonly FindingSeverity[] = ["error", "warning", "info"];
const types: readonly ResourceType[] = ["listeners", "routes", "scoped-routes", "virtual-hosts", "clusters", "endpoints", "secrets", "runtimes", "extensions"];
const isCode = (word: string): word is FindingCode => word in codeWords;
const codes = Object.keys(codeWords).filter(isCode);

/** What the address asks for; words that it cannot mean are passed over. */
export function filterOf(words: Readonly<Record<string, string | undefined>>): FindingFilter {
  const severity = severities.find((s) => s === words.severity);
  const type = types.find((t) => t === words.type);
  const code = codes.find((c) => c === words.code);
  return { ...(severity && { severity }), ...(type && { type }), ...(code && { code }), ...(words.name && { name: words.name }), ...(words.cursor && { cursor: words.cursor }) };
}

export function Findings() {
  const { tenant, fleet } = usePlace();
  const [words] = useFilters();
  const filter = filterOf(words);
  const list = useQuery({ ...findings(tenant, fleet, filter), placeholderData: keepPreviousData });
  const filtered = filter.severity ?? filter.type ?? filter.code ?? filter.name ?? filter.cursor;
  const about = list.data ? `In revision ${list.data.revision}: ${findingTotals(list.data)}.` : "What is wrong in the fleet as a whole, or soon will be.";
  return (
    <Page title="Findings" about={about}>
      <FilterFold set={[filter.severity, filter.type, filter.code, filter.name].filter((f) => f !== undefined).length}>
        <Filters filter={filter} />
      </FilterFold>
      <Loaded query={list} height={320}>
        {(page) =>
          page.items.length > 0 ? (
            <Table fleet={fleet} items={page.items} />
          ) : filtered === undefined ? (
            <Empty title="Nothing is wrong">
              Every reference leads somewhere, no certificate is about to expire, no domain stands twice, and everything is reached.
            </Empty>
          ) : (
            <Empty title="No finding is like this">
              <TextLink to="/fleets/$fleet/findings" params={{ fleet }} size="sm">
                All findings
              </TextLink>
            </Empty>
          )
        }
      </Loaded>
      <Pager of="findings" next={list.data?.next_cursor} />
    </Page>
  );
}

function Filters({ filter }: { filter: FindingFilter }) {
  const [, set] = useFilters();
  const name = useRef<HTMLInputElement>(null);
  const to = (next: Record<string, string | undefined>) => set({ ...next, cursor: undefined });
  const any = filter.severity ?? filter.type ?? filter.code ?? filter.name;
  return (
    <Group gap="sm" align="flex-end" role="search">
      <NativeSelect label="Severity" value={filter.severity ?? ""} data={[{ value: "", label: "all" }, ...severities]} onChange={(e) => to({ severity: e.currentTarget.value || undefined })} />
      <NativeSelect label="Type" value={filter.type ?? ""} data={[{ value: "", label: "all" }, ...types]} onChange={(e) => to({ type: e.currentTarget.value || undefined })} />
      <NativeSelect
        label="What it is"
        value={filter.code ?? ""}
        data={[{ value: "", label: "anything" }, ...codes.map((c) => ({ value: c, label: codeWords[c] }))]}
        onChange={(e) => to({ code: e.currentTarget.value || undefined })}
      />
      <TextInput
        ref={name}
        label="Name of the resource"
        placeholder="whole name"
        defaultValue={filter.name ?? ""}
        onKeyDown={(e) => {
          if (e.key === "Enter") to({ name: e.currentTarget.value.trim() || undefined });
        }}
        onBlur={(e) => {
          const typed = e.currentTarget.value.trim() || undefined;
          if (typed !== filter.name) to({ name: typed });
        }}
        maxLength={512}
      />
      {any !== undefined && (
        <Button variant="subtle" 
          onClick={() => {
            if (name.current) name.current.value = "";
            to({ severity: undefined, type: undefined, code: undefined, name: undefined });
          }}
        >
          Clear
        </Button>
      )}
    </Group>
  );
}

function Table({ fleet, items }: { fleet: string; items: readonly Finding[] }) {
  return (
    <DataTable
      label="Findings"
      rows={items}
      keyOf={(f) => [f.code, f.type, f.name, f.variant, f.pointer, f.to?.type, f.to?.name, f.to_variant].join("\n")}
      columns={[
        { title: "Severity", cell: (f) => <SeverityBadge severity={f.severity} />, kind: "short" },
        {
          title: "Resource",
          cell: (f) => (
            <Stack gap={0}>
              <FindingLink fleet={fleet} finding={f} />
              {f.pointer !== "" && (
                <Text span size="xs" c="dimmed" className="mono">
                  {f.pointer}
                </Text>
              )}
            </Stack>
          ),
        },
        {
          title: "What to do",
          cell: (f) => (
            <Text size="sm" className="words">
              {f.detail}
              {f.nodes !== undefined && ` (${f.nodes === 1 ? "1 node" : `${f.nodes} nodes`})`}
            </Text>
          ),
        },
        { title: "What it is", cell: (f) => <span title={f.code}>{codeWords[f.code]}</span> },
      ]}
    />
  );
}
