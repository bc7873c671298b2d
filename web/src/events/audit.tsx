// Who did what in the tenant.
import "./events.css";
import { Button, Group, NativeSelect, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { may, useMe } from "../app/session";
import { FilterText } from "../settings/filter";
import { FleetName } from "../settings/fleet-name";
import { FilterFold } from "../ui/filters";
import { Loaded } from "../ui/loaded";
import { Empty, Page } from "../ui/page";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import { AuditTable } from "./audit-table";
import { AuditState } from "./audit-state";
import { auditQuery, exportAddress, type AuditAsked } from "./queries";
import { auditKinds, fieldTime, isoTime } from "./words";

/** The audit's filters that the address names. */
function asking(filters: Readonly<Record<string, string | undefined>>): AuditAsked {
  const { kind, actor, fleet, since, until } = filters;
  return { ...(kind ? { kind } : {}), ...(actor ? { actor } : {}), ...(fleet ? { fleet } : {}), ...(since ? { since } : {}), ...(until ? { until } : {}) };
}

export function Audit() {
  const me = useMe();
  const [filters] = useFilters();
  const tenant = me.tenant ?? filters.tenant; // an operator says of which
  if (tenant === undefined) return <Page title="Audit">{<Empty title="Of which tenant?">Choose one on the operator's page.</Empty>}</Page>;
  if (me.kind === "tenant" && !may(me, "admin")) {
    return (
      <Page title="Audit">
        <Empty title="Not for your role">Admins and owners read the audit. You are signed in with “{me.name}”, of the role {me.role}. What was written stands in each fleet's history.</Empty>
      </Page>
    );
  }
  return <AuditOf key={tenant} tenant={tenant} />;
}

function AuditOf({ tenant }: { tenant: string }) {
  const [filters, set] = useFilters();
  const asked = asking(filters);
  const query = useQuery(auditQuery(tenant, asked, filters.cursor));
  const filtered = Object.keys(asked).length > 0;
  return (
    <Page
      title="Audit"
      tab={`Audit of ${tenant}`}
      about={`Every change that was made in ${tenant}, and what was refused.`}
      actions={
        <>
          <Button variant="default" onClick={() => void query.refetch()} loading={query.isFetching && !query.isPending}>
            Refresh
          </Button>
          <Button component="a" variant="default" href={exportAddress(tenant, asked)} download={`audit-${tenant}.jsonl`}>
            Export {filtered ? "these" : "all"} as JSON lines
          </Button>
        </>
      }
    >
      <AuditState tenant={tenant} />
      <FilterFold set={Object.keys(asked).length}>
        <Filters tenant={tenant} filters={filters} set={(next) => set({ ...next, cursor: undefined })} />
      </FilterFold>
      <Loaded query={query} height={420}>
        {(list) => (
          <div>
            {list.items.length > 0 ? (
              <AuditTable items={list.items} linked={filters.tenant === undefined} />
            ) : (
              <Empty title={list.next_cursor === undefined ? "No such events" : "None among these"}>
                {list.next_cursor === undefined ? "Nothing that the filters take was done, or it is older than what is kept." : "5,000 events were looked at and none is of the kind. Go on to older ones."}
              </Empty>
            )}
            <Pager of="audit" next={list.next_cursor} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

interface FiltersProps {
  tenant: string;
  filters: Readonly<Record<string, string | undefined>>;
  set: (next: Record<string, string | undefined>) => void;
}

function Filters({ tenant, filters, set }: FiltersProps) {
  const me = useMe();
  const kinds = Object.keys(auditKinds);
  const kind = filters.kind ?? "";
  return (
    <Group gap="sm" align="flex-end" role="search" aria-label="Which events">
      <NativeSelect
        label="What"
        value={kind}
        data={[{ value: "", label: "everything" }, ...(kind === "" || kinds.includes(kind) ? kinds : [kind, ...kinds])]}
        onChange={(e) => set({ kind: e.currentTarget.value || undefined })}
      />
      <FilterText label="Who" placeholder="name of a token" value={filters.actor} set={(actor) => set({ actor })} />
      <FleetFilter key={filters.fleet ?? ""} tenant={tenant} value={filters.fleet ?? ""} suggest={me.kind === "tenant"} set={(fleet) => set({ fleet })} />
      <TimeFilter label="Since" value={filters.since} set={(since) => set({ since })} />
      <TimeFilter label="Until" value={filters.until} set={(until) => set({ until })} />
    </Group>
  );
}

function FleetFilter({ tenant, value, suggest, set }: { tenant: string; value: string; suggest: boolean; set: (fleet: string | undefined) => void }) {
  const [text, setText] = useState(value);
  return (
    <FleetName
      tenant={tenant}
      label="Fleet"
      flex="1 1 10rem"
      value={text}
      suggest={suggest}
      set={setText}
      done={(name) => {
        if (name !== value) set(name || undefined);
      }}
    />
  );
}

function TimeFilter({ label, value, set }: { label: string; value: string | undefined; set: (iso: string | undefined) => void }) {
  return <TextInput flex="1 1 13rem" type="datetime-local" label={label} key={value ?? ""} defaultValue={fieldTime(value)} onBlur={(e) => {
    const field = e.currentTarget.value;
    if (field !== fieldTime(value)) set(isoTime(field));
  }} onKeyDown={(e) => {
    if (e.key === "Enter") e.currentTarget.blur();
  }} />;
}
