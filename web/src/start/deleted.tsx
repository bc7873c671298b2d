import { Button, Stack, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, take, type Fleet } from "../api/client";
import { may, useMe } from "../app/session";
import { TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Empty } from "../ui/page";
import { Pager } from "../ui/pager";
import { ProblemAlert } from "../ui/problem";
import { useFilters } from "../ui/search";
import { DataTable } from "../ui/table";
import { Ago } from "../ui/time";
import { deletedFleets } from "./queries";

const keptFor = 30 * 24 * 3600 * 1000;

const removedAt = (f: Fleet) => (f.deleted_at === undefined ? undefined : new Date(Date.parse(f.deleted_at) + keptFor).toISOString());

/** The fleets that were deleted, each with the way back. */
export function DeletedFleets({ tenant }: { tenant: string }) {
  const me = useMe();
  const [{ cursor }] = useFilters();
  const client = useQueryClient();
  const list = useQuery(deletedFleets(tenant, cursor));
  const restore = useMutation({
    mutationFn: (f: Fleet) =>
      take(api.POST("/v1/tenants/{tenant}/fleets/{fleet}/restore", { params: { path: { tenant, fleet: f.name }, query: { id: f.id } } })),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ["fleets"] });
      void client.invalidateQueries({ queryKey: ["deleted-fleets"] });
    },
  });
  const allowed = may(me, "admin");
  return (
    <Stack gap="md">
      <div role="status">
        {restore.data && (
          <Text size="sm">
            Restored:{" "}
            <TextLink to="/fleets/$fleet" params={{ fleet: restore.data.name }} size="sm">
              {restore.data.name}
            </TextLink>
            . Its nodes can connect again within a minute.
          </Text>
        )}
      </div>
      {restore.error && <ProblemAlert error={restore.error} title={`${restore.variables.name} was not restored`} />}
      {!allowed && <Text size="sm">An admin or an owner of the tenant can restore them.</Text>}
      <Loaded query={list}>
        {(page) =>
          page.items.length === 0 ? (
            <Empty title="No deleted fleets">A fleet that is deleted stands here for 30 days, and can be restored with all that it had.</Empty>
          ) : (
            <DataTable
              label="Deleted fleets"
              rows={page.items}
              keyOf={(f) => f.id}
              columns={[
                { title: "Fleet", cell: (f) => <Text span size="sm" fw={600} className="words">{f.name}</Text> },
                { title: "Held", cell: (f) => (f.resources === 1 ? "1 resource" : `${f.resources} resources`), kind: "short" },
                { title: "Deleted", cell: (f) => <Ago at={f.deleted_at} />, kind: "short" },
                { title: "Removed for good", cell: (f) => <Ago at={removedAt(f)} />, kind: "short" },
                {
                  title: "Take back",
                  cell: (f) => (
                    <Button size="compact-sm" variant="default" aria-label={`Restore ${f.name}`} disabled={!allowed || restore.isPending} onClick={() => restore.mutate(f)}>
                      Restore
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <Pager of="deleted fleets" next={list.data?.next_cursor} />
    </Stack>
  );
}
