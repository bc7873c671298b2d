// One revision: who has taken it, what it changed, and the ways back.
import { Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Difference, Revision } from "../api/client";
import { fleetQuery } from "../api/queries";
import { usePlace } from "../app/place";
import { useMe } from "../app/session";
import { mayWrite } from "../draft/rights";
import { LiveReceipt } from "../receipt/live";
import { ButtonLink, TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Empty, Page, Section } from "../ui/page";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import { Ago } from "../ui/time";
import { Changes } from "./changes";
import { ChoiceFilter, TextFilter } from "./filters";
import { Changed } from "./history";
import { firstOf, isOfEndpoints, runOf } from "./run";
import { changesQuery, resourceTypes, revisionOf, revisionQuery, typeOf } from "./queries";

export function RevisionView() {
  const { tenant, fleet } = usePlace();
  const { revision: word } = useParams({ from: "/fleets/$fleet/history/$revision" });
  const asked = revisionOf(word);
  const query = useQuery({ ...revisionQuery(tenant, fleet, asked ?? "latest"), enabled: asked !== undefined && asked !== 0 });
  if (asked === undefined || asked === 0) {
    return (
      <Page title="Revision">
        <Empty title="There is no such revision">
          A revision is a number, from 1 on. <TextLink to="/fleets/$fleet/history" params={{ fleet }}>To the history</TextLink>
        </Empty>
      </Page>
    );
  }
  const { data } = query;
  return (
    <Page title={`Revision ${data?.revision ?? word}`} about={data && <About revision={data} />} actions={data && <Actions revision={data} />}>
      <Loaded query={query} height={400}>
        {(r) => (
          <Stack gap="lg" key={r.revision}>
            <LiveReceipt revision={r.revision} ofEndpoints={isOfEndpoints(r)} />
            <Section title="What it changed">{isOfEndpoints(r) ? <Endpoints revision={r} /> : <WhatChanged revision={r} />}</Section>
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

function About({ revision: r }: { revision: Revision }) {
  return (
    <>
      {r.kind} by <span className="words">{r.actor ?? "somebody"}</span>, <Ago at={r.committed_at} />: <Changed of={r} />
      {r.message !== undefined && r.message !== "" && (
        <Text className="words" c="var(--mantine-color-text)" mt={4}>
          {r.message}
        </Text>
      )}
    </>
  );
}

function Actions({ revision: r }: { revision: Revision }) {
  const { tenant, fleet } = usePlace();
  const me = useMe();
  const n = r.revision;
  const before = firstOf(r) - 1; // of a run the older ones may be kept no more
  const newest = useQuery(fleetQuery(tenant, fleet)).data?.revision ?? n;
  return (
    <>
      {before > 0 && (
        <ButtonLink to="/fleets/$fleet/history/$revision" params={{ fleet, revision: String(before) }} variant="default" aria-label={`The one before, revision ${before}`}>
          ← Revision {before}
        </ButtonLink>
      )}
      {n < newest && (
        <ButtonLink to="/fleets/$fleet/history/$revision" params={{ fleet, revision: String(n + 1) }} variant="default" aria-label={`The next one, revision ${n + 1}`}>
          Revision {n + 1} →
        </ButtonLink>
      )}
      {n < newest && (
        <ButtonLink to="/fleets/$fleet/compare" params={{ fleet }} search={{ from: String(n), to: "latest" }} variant="default">
          Compare with the newest
        </ButtonLink>
      )}
      {mayWrite(me) && n < newest && (
        <ButtonLink to="/fleets/$fleet/rollback/$revision" params={{ fleet, revision: String(n) }} variant="default">
          Roll back to this
        </ButtonLink>
      )}
      {mayWrite(me) && n > 1 && n >= newest && !isOfEndpoints(r) && (
        <ButtonLink to="/fleets/$fleet/rollback/$revision" params={{ fleet, revision: String(n - 1) }} variant="default">
          Roll back to revision {n - 1}
        </ButtonLink>
      )}
    </>
  );
}

/** Of the endpoints themselves the history keeps nothing: it is of documents. */
function Endpoints({ revision: r }: { revision: Revision }) {
  const run = runOf(r);
  return (
    <Stack gap="xs">
      <Text size="sm">
        It changed what is served of endpoints that are data, and no document: <Changed of={r} />.
      </Text>
      {run > 1 && (
        <Text size="sm">
          The history shows it as the newest of {run} revisions of this kind that follow each other, {firstOf(r)} to {r.revision}.
        </Text>
      )}
      <Text size="sm" c="dimmed">
        A rollback is of documents, and leaves endpoints as they are.
      </Text>
    </Stack>
  );
}

function WhatChanged({ revision: r }: { revision: Revision }) {
  const { tenant, fleet } = usePlace();
  const me = useMe();
  const [search] = useFilters();
  const type = typeOf(search["type"]);
  const name = search["name"];
  const cursor = search["cursor"];
  const query = useQuery(changesQuery(tenant, fleet, r.revision, { ...(type ? { type } : {}), ...(name ? { name } : {}), ...(cursor ? { cursor } : {}) }));
  const back = (d: Difference) =>
    mayWrite(me) &&
    r.revision > 1 && (
      <ButtonLink to="/fleets/$fleet/rollback/$revision" params={{ fleet, revision: String(r.revision - 1) }} search={{ type: d.type, name: d.name, variant: d.variant }} variant="default" size="xs">
        Roll back this one
      </ButtonLink>
    );
  return (
    <Stack gap="md">
      {r.changed > 5 && (
        <Group gap="sm" role="search" aria-label="Filter what it changed">
          <ChoiceFilter label="Type" word="type" values={resourceTypes} />
          <TextFilter label="Name" word="name" placeholder="whole name" />
        </Group>
      )}
      <Loaded query={query} height={240}>
        {(c) => (
          <div>
            {c.items.length === 0 ? (
              <Text size="sm" c="dimmed">
                {type ?? name ? "Nothing of what it changed fits the filters." : "It changed nothing."}
              </Text>
            ) : (
              <Changes comparison={c} actions={back} />
            )}
            <Pager of="changes" next={c.next_cursor} />
          </div>
        )}
      </Loaded>
    </Stack>
  );
}
