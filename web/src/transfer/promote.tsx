// Promote: what this fleet has, as one revision of another one of the tenant, with its plan before.
import { Alert, Button, Checkbox, Group, MultiSelect, Select, Stack, Table, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, take, type FieldError, type ResourceType } from "../api/client";
import { fleetQuery } from "../api/queries";
import { usePlace } from "../app/place";
import { may, useMe } from "../app/session";
import { Loaded } from "../ui/loaded";
import { Empty, Page, Section } from "../ui/page";
import { ProblemAlert } from "../ui/problem";
import { useFilters } from "../ui/search";
import { labelsOf } from "./documents";
import { PlanView } from "./plan-view";
import { Apply, withPlaces } from "./promote-apply";
import { contentOf, placed, type Choice, type Content } from "./promote-content";
import { targetsQuery } from "./queries";

const types: readonly ResourceType[] = ["listeners", "routes", "scoped-routes", "virtual-hosts", "clusters", "endpoints", "secrets", "runtimes", "extensions"];

export function Promote() {
  const { tenant, fleet } = usePlace();
  const me = useMe();
  const targets = useQuery(targetsQuery(tenant));
  return (
    <Page title="Promote" about={`What ${fleet} has, written to another fleet as one revision. A secret is never shown, so it is not carried over: the other fleet keeps its own of the same name.`}>
      {me.fleet !== undefined ? (
        <Empty title="This token is bound to one fleet">A promotion reads one fleet and writes another: ask for a token that is not bound.</Empty>
      ) : !may(me, "editor") ? (
        <Empty title="You may look at this fleet, and not write to others">To promote, ask for a token of the role editor.</Empty>
      ) : (
        <Loaded query={targets} height={240}>
          {(page) => {
            const others = page.items.map((f) => f.name).filter((name) => name !== fleet);
            return others.length === 0 ? <Empty title="There is no other fleet">Make one on the first page, and come back.</Empty> : <Form others={others} more={page.next_cursor !== undefined} />;
          }}
        </Loaded>
      )}
    </Page>
  );
}

/** What the address says is to be promoted. */
function useChoice() {
  const [filters, set] = useFilters();
  const words = filters.labels ?? "";
  const labels = labelsOf(words);
  const chosen = types.filter((t) => (filters.types ?? "").split(",").includes(t));
  return { to: filters.to, words, labels, types: chosen, prune: filters.prune === "yes", set };
}

function Form({ others, more }: { others: readonly string[]; more: boolean }) {
  const { to, words, labels, types: chosen, prune, set } = useChoice();
  const [typed, setTyped] = useState(words); // the address comes a moment after the keys
  const type = (next: string) => {
    setTyped(next);
    set({ labels: next || undefined });
  };
  return (
    <Stack gap="md">
      <Section title="What, and where to">
        <Stack gap="sm">
          <Group align="flex-start" gap="sm">
            <Select label="To the fleet" placeholder="Choose one" data={[...others]} value={to ?? null} onChange={(name) => set({ to: name ?? undefined })} searchable flex="1 1 14rem" maw="22rem" {...(more ? { description: "The first 500 of the tenant's fleets" } : {})} />
            <MultiSelect label="Only these types" placeholder={chosen.length === 0 ? "all types" : ""} data={[...types]} value={[...chosen]} onChange={(next) => set({ types: next.join(",") || undefined })} clearable flex="1 1 14rem" maw="30rem" />
            <TextInput label="Only with these labels" placeholder="team=shop" value={typed} onChange={(e) => type(e.currentTarget.value)} error={labels === undefined ? "Write key=value, several joined by commas" : undefined} flex="1 1 12rem" maw="22rem" />
          </Group>
          <Checkbox
            label="Delete what this fleet does not have"
            description="Of the types and labels that are chosen. What would be deleted stands in the plan."
            checked={prune}
            onChange={(e) => set({ prune: e.currentTarget.checked ? "yes" : undefined })}
          />
        </Stack>
      </Section>
      {to === undefined ? (
        <Text c="dimmed" size="sm">Choose the fleet that it is to be written to: then its plan shows what would change.</Text>
      ) : !others.includes(to) ? (
        <Alert color="yellow">There is no fleet {to} to write to.</Alert>
      ) : (
        labels && <Planned key={[to, chosen.join(), labels.join(), prune].join("\n")} to={to} choice={{ types: chosen, labels, prune }} />
      )}
    </Stack>
  );
}

/** The plan of one choice. Another choice begins anew. */
function Planned({ to, choice }: { to: string; choice: Choice }) {
  const { tenant, fleet } = usePlace();
  const [content, setContent] = useState<Content>();
  const plan = useMutation({
    mutationFn: async () => {
      setContent(undefined);
      const read = await contentOf(tenant, fleet, to, choice);
      setContent(read);
      if (read.entries.length === 0) return undefined;
      return take(api.POST("/v1/tenants/{tenant}/fleets/{fleet}/plan", { params: { path: { tenant, fleet: to } }, body: read.input }));
    },
  });
  const placeOf = (f: FieldError) => placed(f, content?.entries ?? [], content?.input.resources?.length ?? 0);
  return (
    <Stack gap="md">
      <Group>
        <Button loading={plan.isPending} onClick={() => plan.mutate()} variant={plan.data ? "default" : "filled"}>
          {plan.data ? "Refresh the plan" : `Show what would change on ${to}`}
        </Button>
      </Group>
      {content && content.values.length > 0 && <Values from={fleet} to={to} names={content.values} />}
      {plan.error && <ProblemAlert error={withPlaces(plan.error, placeOf)} title={`${to} would not take it`} />}
      {content?.entries.length === 0 && <Empty title="Nothing is chosen">No resource of {fleet} has these types and labels.</Empty>}
      {content && plan.data && (
        <Section title={`Plan for ${to}`}>
          <Stack gap="md">
            <PlanView fleet={to} plan={plan.data} placeOf={placeOf} />
            <Apply key={plan.data.token} tenant={tenant} from={fleet} to={to} content={content} plan={plan.data} placeOf={placeOf} again={() => plan.mutate()} />
          </Stack>
        </Section>
      )}
    </Stack>
  );
}

/** What stands in the place of the placeholders, here and there. */
function Values({ from, to, names }: { from: string; to: string; names: readonly string[] }) {
  const { tenant } = usePlace();
  const here = useQuery(fleetQuery(tenant, from)).data?.values;
  const there = useQuery(fleetQuery(tenant, to)).data?.values;
  if (!here || !there) return null;
  return (
    <Section title="Values">
      <Text size="sm" c="dimmed" mb="sm">Placeholders get the values of the fleet that is written to.</Text>
      <Table aria-label="Values" layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Name</Table.Th>
            <Table.Th scope="col" className="words">{from}</Table.Th>
            <Table.Th scope="col" className="words">{to}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {names.map((n) => (
            <Table.Tr key={n}>
              <Table.Td className="mono">{n}</Table.Td>
              <Table.Td className="mono">{here[n] ?? "–"}</Table.Td>
              <Table.Td className="mono">{there[n] ?? <Text span inherit c="var(--mantine-color-red-text)" fw={700}>not set: set it in the settings of {to}</Text>}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Section>
  );
}
