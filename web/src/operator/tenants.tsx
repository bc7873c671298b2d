import { Button, Group, Modal, NativeSelect, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Tenant } from "../api/client";
import { FilterText } from "../settings/filter";
import { NewToken } from "../settings/token-new";
import { rolesOf } from "../settings/words";
import { useMe } from "../app/session";
import { ButtonLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Empty } from "../ui/page";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import { DataTable } from "../ui/table";
import { Ago } from "../ui/time";
import { tenantsQuery } from "./queries";
import { DeleteTenant, RestoreTenant } from "./tenant-end";
import { TenantLimits } from "./tenant-limits";
import { NewTenant } from "./tenant-new";

type Doing = { what: "new" } | { what: "limits" | "token"; tenant: string };

export function Tenants() {
  const [filters, set] = useFilters();
  const [doing, setDoing] = useState<Doing | undefined>();
  const deleted = filters.tenants === "deleted";
  const asked = useQuery(tenantsQuery(deleted, filters.slug, filters.cursor));
  const close = () => setDoing(undefined);
  return (
    <Stack gap="sm">
      <Group justify="space-between" align="flex-end" gap="sm">
        <Group gap="sm" align="flex-end" flex="1 1 20rem">
          <NativeSelect
            label="State"
            value={deleted ? "deleted" : ""}
            data={[
              { value: "", label: "In use" },
              { value: "deleted", label: "Deleted" },
            ]}
            onChange={(e) => set({ tenants: e.currentTarget.value || undefined, cursor: undefined })}
          />
          <FilterText label="Slug begins with" value={filters.slug} set={(slug) => set({ slug, cursor: undefined })} />
        </Group>
        <Button onClick={() => setDoing({ what: "new" })}>Create a tenant</Button>
      </Group>
      <Loaded query={asked} height={240}>
        {(list) => (
          <>
            {list.items.length === 0 ? (
              <Empty title={deleted ? "No deleted tenants" : "No tenants"}>{deleted ? "A deleted tenant stands here for 30 days." : "Create one, and give its first token to whoever owns it."}</Empty>
            ) : (
              <TenantTable items={list.items} deleted={deleted} act={setDoing} />
            )}
            <Pager of="tenants" next={list.next_cursor} />
          </>
        )}
      </Loaded>
      <Dialog doing={doing} close={close} />
    </Stack>
  );
}

function Dialog({ doing, close }: { doing: Doing | undefined; close: () => void }) {
  const me = useMe();
  const title = doing === undefined ? "" : doing.what === "new" ? "Create a tenant" : doing.what === "limits" ? `Limits of ${doing.tenant}` : `Make a token of ${doing.tenant}`;
  return (
    <Modal opened={doing !== undefined} onClose={close} title={title} size={doing?.what === "limits" ? "lg" : "md"} closeButtonProps={{ "aria-label": "Close" }} closeOnClickOutside={false}>
      {doing?.what === "new" && <NewTenant close={close} />}
      {doing?.what === "limits" && <TenantLimits tenant={doing.tenant} />}
      {doing?.what === "token" && <NewToken tenant={doing.tenant} roles={rolesOf(me)} mayHandOver={false} operator role="owner" close={close} />}
    </Modal>
  );
}

function TenantTable({ items, deleted, act }: { items: readonly Tenant[]; deleted: boolean; act: (doing: Doing) => void }) {
  return (
    <DataTable
      label="Tenants"
      rows={items}
      keyOf={(t) => t.id}
      columns={[
        {
          title: "Tenant",
          cell: (t) => (
            <>
              <Text size="sm" fw={600} className="words">
                {t.slug}
              </Text>
              {t.name !== t.slug && (
                <Text size="xs" c="dimmed" className="words">
                  {t.name}
                </Text>
              )}
            </>
          ),
        },
        { title: deleted ? "Deleted" : "Created", kind: "short", cell: (t) => <Ago at={deleted ? t.deleted_at : t.created_at} /> },
        { title: "", cell: (t) => (deleted ? <Group justify="flex-end"><RestoreTenant tenant={t.slug} /></Group> : <TenantActions tenant={t.slug} act={act} />) },
      ]}
    />
  );
}

function TenantActions({ tenant, act }: { tenant: string; act: (doing: Doing) => void }) {
  return (
    <Group gap="xs" justify="flex-end">
      <Button size="xs" variant="default" aria-label={`Limits of ${tenant}`} onClick={() => act({ what: "limits", tenant })}>
        Limits
      </Button>
      <Button size="xs" variant="default" aria-label={`Make a token of ${tenant}`} onClick={() => act({ what: "token", tenant })}>
        Make a token
      </Button>
      <ButtonLink size="xs" variant="default" to="/audit" search={{ tenant }} aria-label={`Audit of ${tenant}`}>
        Audit
      </ButtonLink>
      <DeleteTenant tenant={tenant} />
    </Group>
  );
}
