import { Alert, Button, Checkbox, Group, Radio, SimpleGrid, Stack, TagsInput, Text, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, take, type Fleet, type FleetUpdate } from "../api/client";
import { fleetQuery } from "../api/queries";
import { usePlace } from "../app/place";
import { ProblemAlert } from "../ui/problem";
import { adminPort, changes, portsOf, type Settings } from "./fleet-changes";

export function FleetForm({ fleet }: { fleet: Fleet }) {
  const place = usePlace();
  const client = useQueryClient();
  const [typed, setTyped] = useState<Partial<Settings>>({});
  const [seen, setSeen] = useState(fleet.etag); // the settings that stood here when typing began
  const update = changes(fleet, typed);
  const changed = Object.keys(update).length > 0;
  const save = useMutation({
    mutationFn: (body: FleetUpdate) => take(api.PATCH("/v1/tenants/{tenant}/fleets/{fleet}", { params: { path: place, header: { "If-Match": fleet.etag } }, body })),
    onSuccess: (now) => {
      client.setQueryData(fleetQuery(place.tenant, place.fleet).queryKey, (old) => (old?.counts ? { ...now, counts: old.counts } : now));
      setTyped({});
    },
    // Also where it was refused: somebody else may have changed them.
    onSettled: () => client.invalidateQueries({ queryKey: fleetQuery(place.tenant, place.fleet).queryKey }),
  });
  const set = (next: Partial<Settings>) => {
    if (!changed) setSeen(fleet.etag);
    setTyped({ ...typed, ...next });
  };

  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        if (changed) save.mutate(update);
      }}
    >
      <Stack gap="md">
        <Fields shown={{ ...fleet, ...typed }} set={set} />
        {changed && seen !== fleet.etag && (
          <Alert color="orange" role="status" title="Somebody else has changed the settings meanwhile">
            The fields that you have not touched show what they are now. Those that you have are yours: look at them again, then save.
          </Alert>
        )}
        {save.error !== null && <ProblemAlert error={save.error} title="Nothing was changed" />}
        <Group gap="sm">
          <Button type="submit" disabled={!changed} loading={save.isPending}>
            Save
          </Button>
          {changed && (
            <Button variant="default" onClick={() => setTyped({})}>
              Put back
            </Button>
          )}
          <Text size="sm" role="status">
            {save.isSuccess && !changed ? "Saved." : ""}
          </Text>
        </Group>
      </Stack>
    </form>
  );
}

function Fields({ shown, set }: { shown: Settings; set: (next: Partial<Settings>) => void }) {
  return (
    <Stack gap="md">
      <Textarea label="Description" description="For people." value={shown.description} rows={3} resize="vertical" onChange={(e) => set({ description: e.currentTarget.value })} />
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="lg">
        <Radio.Group
          label="References"
          description="What becomes of a write that leaves something without the route, extension or secret that it names."
          value={shown.references}
          onChange={(v) => set({ references: v === "strict" ? "strict" : "warn" })}
        >
          <Stack gap="xs" mt="xs">
            <Radio value="warn" label="Warn" description="It is stored, and nodes keep what they have until what is named is there." />
            <Radio value="strict" label="Strict" description="It is refused." />
          </Stack>
        </Radio.Group>
        <Radio.Group label="Node ids" description="Whether several clients may have one node id at a time." value={shown.node_ids} onChange={(v) => set({ node_ids: v === "exclusive" ? "exclusive" : "shared" })}>
          <Stack gap="xs" mt="xs">
            <Radio value="shared" label="Shared" description="They may. Each counts for itself, and they are told as duplicates." />
            <Radio value="exclusive" label="Exclusive" description="The second one is not let in while the first is connected." />
          </Stack>
        </Radio.Group>
        <TextInput
          label="Receipt window"
          description="How recently a node must have been seen to count in the receipt of a revision. From 1m to 30d, such as 12h."
          value={shown.receipt_window}
          onChange={(e) => set({ receipt_window: e.currentTarget.value })}
        />
        <TextInput
          label="Forget nodes after"
          description="How long without a connection until a node is forgotten. From 1h to 90d, such as 14d."
          value={shown.forget_nodes_after}
          onChange={(e) => set({ forget_nodes_after: e.currentTarget.value })}
        />
      </SimpleGrid>
      <TagsInput
        label="Static clusters"
        description="Clusters of the proxies' own bootstrap: to name one of them is no finding. Enter adds one."
        value={shown.static_clusters}
        splitChars={[",", " "]}
        acceptValueOnBlur
        maxTags={100}
        onChange={(static_clusters) => set({ static_clusters })}
      />
      <TagsInput
        label="Private clusters"
        description="Clusters of the proxies' own bootstrap that may carry their credentials: only who may write the guard rule bootstrap_names may name one. fairlead_* are private always."
        value={shown.private_clusters}
        splitChars={[",", " "]}
        acceptValueOnBlur
        maxTags={100}
        onChange={(private_clusters) => set({ private_clusters })}
      />
      <TagsInput
        label="Local ports"
        description="Ports of the proxies' own machine, such as those of backends beside them, to which everybody who writes may send. All others need an admin. Enter adds one."
        value={shown.local_ports.map(String)}
        splitChars={[",", " "]}
        acceptValueOnBlur
        maxTags={100}
        onChange={(typed) => set({ local_ports: portsOf(typed) })}
      />
      {shown.local_ports.includes(adminPort) && (
        <Alert color="orange" role="status" title={`${adminPort} is where Envoy's admin interface listens by default`}>
          It shows all that a proxy knows, and ends it. Everybody who writes to this fleet may send to it.
        </Alert>
      )}
      <TextInput
        label="Load report interval"
        description="How often proxies that report their load do so. From 1s to 1m; empty: as often as the xDS servers say."
        value={shown.load_report_interval ?? ""}
        onChange={(e) => set({ load_report_interval: e.currentTarget.value })}
      />
      <TagsInput
        label="Load report clusters"
        description="The clusters that they report. None: all that they have. Enter adds one."
        value={shown.load_report_clusters ?? []}
        splitChars={[",", " "]}
        acceptValueOnBlur
        maxTags={1000}
        onChange={(load_report_clusters) => set({ load_report_clusters })}
      />
      <Checkbox
        label="Load of each endpoint"
        description="Envoys count requests for each endpoint, too."
        checked={shown.load_report_endpoints ?? false}
        onChange={(e) => set({ load_report_endpoints: e.currentTarget.checked })}
      />
    </Stack>
  );
}
