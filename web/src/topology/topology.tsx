// What leads to what in a fleet: as a graph, or as a list.
import { Alert, Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Suspense, useMemo } from "react";
import type { ResourceRef, Topology as Answer } from "../api/client";
import { fleetQuery, receiptQuery } from "../api/queries";
import { usePlace } from "../app/place";
import { later } from "../ui/later";
import { ButtonLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Empty, Page } from "../ui/page";
import { ProblemAlert } from "../ui/problem";
import { useFilters } from "../ui/search";
import { Bar, type View } from "./bar";
import { around, found, isProblem, ofNode, problems } from "./focus";
import { graphOf, idOf, type Graph } from "./graph";
import { ListView } from "./list-view";
import { fleetMarks, nodeMarks } from "./marks";
import { nodeQuery, nodeStatesQuery, refOf, topologyQuery } from "./queries";

const GraphView = later(() => import("./graph-view").then((m) => m.default));

const height = 560;

export function Topology() {
  const { tenant, fleet } = usePlace();
  const [filters] = useFilters();
  const whole = useQuery(topologyQuery(tenant, fleet));
  const focus = refOf(filters.focus);
  // What a large fleet leaves off is asked for when something in it is looked at.
  const apart = focus !== undefined && (whole.data?.more_resources ?? 0) > 0;
  const near = useQuery({ ...topologyQuery(tenant, fleet, focus), enabled: apart });
  return (
    <Page title="Topology" about="What of the configuration leads to what, from listeners to endpoints.">
      <Loaded query={apart ? near : whole} height={height}>
        {(answer) => (answer.resources.length === 0 ? <Nothing fleet={fleet} /> : <Shown answer={answer} focus={focus} />)}
      </Loaded>
    </Page>
  );
}

function Nothing({ fleet }: { fleet: string }) {
  return (
    <Empty title="The fleet has no resources yet">
      <Stack gap="sm" align="center">
        A listener, a route and a cluster make a first graph.
        <Group gap="sm" justify="center">
          <ButtonLink to="/fleets/$fleet/new" params={{ fleet }} size="xs">Create a resource</ButtonLink>
          <ButtonLink to="/fleets/$fleet/import" params={{ fleet }} size="xs" variant="default">Import an Envoy's configuration</ButtonLink>
        </Group>
      </Stack>
    </Empty>
  );
}

/** The part of the graph that the address asks for. */
function useGraph(answer: Answer, focus: ResourceRef | undefined) {
  const { tenant, fleet } = usePlace();
  const [{ node, problems: onlyProblems, q }] = useFilters();
  const { data: facts } = useQuery(fleetQuery(tenant, fleet));
  const receipt = useQuery({ ...receiptQuery(tenant, fleet, "latest"), enabled: node === undefined && (facts?.revision ?? 0) > 0 });
  const one = useQuery({ ...nodeQuery(tenant, fleet, node ?? ""), enabled: node !== undefined });
  const states = useQuery({ ...nodeStatesQuery(tenant, fleet, node ?? ""), enabled: node !== undefined });

  const has = states.data?.states;
  const waits = one.data?.waits;
  const told = receipt.data;
  const center = focus && idOf(focus);
  const graph = useMemo(() => {
    const all = graphOf(answer, has ? nodeMarks(has, waits) : told && fleetMarks(told));
    const mine = has ? ofNode(all, has) : all;
    const near = center === undefined ? mine : around(mine, center);
    return near && onlyProblems === "yes" ? problems(near) : near;
  }, [answer, has, waits, told, center, onlyProblems]);
  const hits = useMemo(() => (graph && (q ?? "").trim() !== "" ? found(graph, q ?? "") : undefined), [graph, q]);
  return {
    graph,
    found: hits,
    error: one.error ?? states.error ?? receipt.error,
    waiting: node !== undefined && has === undefined && !states.error,
    partOfNode: states.data?.more === true,
  };
}

function Shown({ answer, focus }: { answer: Answer; focus: ResourceRef | undefined }) {
  const { fleet } = usePlace();
  const [filters, set] = useFilters();
  const phone = useMediaQuery("(max-width: 48em)", false, { getInitialValueInEffect: false });
  const view: View = filters.view === "graph" || filters.view === "list" ? filters.view : phone ? "list" : "graph";
  const { graph, found: hits, error, waiting, partOfNode } = useGraph(answer, focus);
  const onFocus = (id: string) => set({ focus: id, q: undefined });
  return (
    <Stack gap="md">
      <Bar view={view} />
      {error && <ProblemAlert error={error} title={filters.node === undefined ? "What nodes refuse is not known" : `What ${filters.node} has is not known`} />}
      <About answer={answer} graph={graph} hits={hits?.size} focus={focus} partOfNode={partOfNode} />
      {waiting ? (
        <Skeleton h={height} radius="md" aria-label="Loading" aria-busy="true" />
      ) : graph === undefined ? (
        <Empty title="It is not in this graph">{filters.focus} is neither there nor named{filters.node !== undefined && ` in what ${filters.node} has`}.</Empty>
      ) : graph.names.length === 0 ? (
        <Empty title={filters.problems === "yes" ? "No problems here" : "Nothing to show"}>{filters.problems === "yes" ? "Nothing is missing, refused or withheld." : "The node asks for nothing of this fleet."}</Empty>
      ) : view === "list" ? (
        <ListView key={`${filters.focus} ${filters.node} ${filters.q}`} fleet={fleet} graph={graph} found={hits} step={phone ? 20 : 100} onFocus={onFocus} />
      ) : (
        <Suspense fallback={<Skeleton h={height} radius="md" aria-label="Loading" aria-busy="true" />}>
          <GraphView key={`${filters.focus} ${filters.node} ${filters.problems}`} fleet={fleet} graph={graph} focus={focus && idOf(focus)} found={hits} onFocus={onFocus} />
        </Suspense>
      )}
    </Stack>
  );
}

interface AboutProps {
  answer: Answer;
  graph: Graph | undefined;
  hits: number | undefined;
  focus: ResourceRef | undefined;
  partOfNode: boolean;
}

/** What is on screen, in words. */
function About({ answer, graph, hits, focus, partOfNode }: AboutProps) {
  const [filters, set] = useFilters();
  const names = graph?.names ?? [];
  const missing = names.filter((n) => n.mark?.kind === "missing").length;
  const other = names.filter((n) => isProblem(n.mark?.kind)).length - missing;
  const words = [
    `${names.length} ${names.length === 1 ? "resource" : "resources"}${focus ? ` around ${idOf(focus)}` : ""}${filters.node === undefined ? "" : ` of the node ${filters.node}`}`,
    ...(missing > 0 ? [`${missing} named and not there`] : []),
    ...(other > 0 ? [`${other} refused or withheld`] : []),
    ...(hits === undefined ? [] : [`${hits} found`]),
    `revision ${answer.revision}`,
  ];
  const narrowed = focus !== undefined || filters.node !== undefined || filters.problems === "yes" || filters.q !== undefined;
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <Text size="sm" role="status" className="words">{words.join(" · ")}</Text>
        {narrowed && (
          <Button size="compact-xs" variant="light" onClick={() => set({ focus: undefined, node: undefined, problems: undefined, q: undefined })}>
            Show all
          </Button>
        )}
      </Group>
      {answer.more_resources > 0 && (
        <Alert color="yellow" title={`${answer.more_resources} more are left off`}>
          Listeners and what they lead to come first. Open a resource from the list of resources and come back to what is around it, or choose “Around it” here: then all around it is asked for.
        </Alert>
      )}
      {partOfNode && <Alert color="yellow">The node has more resources than are looked at here: some may be missing in its graph.</Alert>}
    </Stack>
  );
}
