// Change with eyes open: what the draft would do, to whom, and then do it.
import { Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState, type ReactNode } from "react";
import { Refused, type Finding, type Plan } from "../api/client";
import { fleetQuery } from "../api/queries";
import { usePlace } from "../app/place";
import { useMe } from "../app/session";
import { ButtonLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Empty, Page, Section } from "../ui/page";
import { ProblemAlert } from "../ui/problem";
import { useDeletions, type Deletions } from "./deletions";
import { Dropped } from "./dropped";
import { EditCard } from "./edit-card";
import { planQuery } from "./plan-query";
import { changesNothing, FindingLines, PlanSummary, WarningLines } from "./plan-view";
import { placeIn, prepare, requestOf, sortFaults, type Item, type Prepared } from "./prepare";
import { LastChanges, NoAnswer, Publish, type Token } from "./publish";
import { mayWrite, whyNotWrite } from "./rights";
import { clearDraft, dropEdit, published, setAsked, setMessage, useDraft, type Draft, type Edit } from "./store";
import { Unkept } from "./unkept";
import { newKey, useToReceipt, useWrite } from "./write";

export function DraftView() {
  const { author, fleet } = usePlace();
  const draft = useDraft(author, fleet);
  const [gone, setGone] = useState<readonly Edit[]>([]);
  const back = (edit: Edit) => setGone(gone.filter((e) => e !== edit));
  if (draft.edits.length === 0) {
    return (
      <Page title="Draft">
        <Dropped edits={gone} onBack={back} />
        <Empty title="There are no edits">
          <Stack gap="md" align="center">
            What you change in resources is collected here. You then see what it would do, to which nodes, and publish it as one revision.
            <Group gap="sm" justify="center">
              <ButtonLink to="/fleets/$fleet/resources" params={{ fleet }}>
                Edit a resource
              </ButtonLink>
              <ButtonLink to="/fleets/$fleet/new" params={{ fleet }} variant="default">
                New resource
              </ButtonLink>
            </Group>
          </Stack>
        </Empty>
      </Page>
    );
  }
  const drop = (edit: Edit) => {
    dropEdit(author, fleet, edit);
    setGone([...gone, edit]);
  };
  return <Edits draft={draft} dropped={<Dropped edits={gone} onBack={back} />} onDrop={drop} />;
}

function Edits({ draft, dropped, onDrop }: { draft: Draft; dropped: ReactNode; onDrop: (edit: Edit) => void }) {
  const { tenant, author, fleet } = usePlace();
  const me = useMe();
  const { edits } = draft;
  const prepared = useMemo(() => prepare(edits), [edits]);
  const readable = prepared.items.some((i) => i.pointer !== undefined);
  const plan = useQuery({ ...planQuery(tenant, fleet, requestOf(prepared)), enabled: readable && mayWrite(me) });
  const [writeError, setWriteError] = useState<Refused>();
  const lookAgain = () => {
    setWriteError(undefined);
    void plan.refetch();
    deletions.again();
  };
  const refusal = writeError ?? (plan.error instanceof Refused ? plan.error : undefined);
  const { at, rest } = sortFaults(prepared.items, refusal?.faults ?? []);
  const planned = plan.error ? undefined : plan.data;
  const told = findingsAt(prepared.items, planned);
  const deletions = useDeletions(tenant, fleet, prepared.items.map((item) => ({ edit: item.edit, planned: plannedOf(item, prepared, planned) })));
  return (
    <Page
      title="Draft"
      about={`${edits.length === 1 ? "1 edit" : `${edits.length} edits`}. No node sees any of it before you publish.`}
      actions={
        <>
          {mayWrite(me) && (
            <Button variant="default" onClick={lookAgain} loading={plan.isFetching} disabled={!readable}>
              Refresh
            </Button>
          )}
          <DropAll count={edits.length} onDrop={() => clearDraft(author, fleet)} />
        </>
      }
    >
      <Unkept author={author} fleet={fleet} />
      {mayWrite(me) && readable && (
        <Section title="What it would do">
          {plan.error ? <NotPlanned error={plan.error} rest={rest.length > 0 || at.size === 0} /> : (
            <Loaded query={plan} height={110}>
              {(p) => (
                <Stack gap="sm">
                  <PlanSummary plan={p} />
                  <Moved plan={p} />
                  {told.rest.length > 0 && <FindingLines findings={told.rest} />}
                  {p.warnings && p.warnings.length > 0 && <WarningLines warnings={p.warnings} />}
                </Stack>
              )}
            </Loaded>
          )}
        </Section>
      )}
      <Section title="Edits">
        <Stack gap="md">
          {dropped}
          {prepared.items.map((item) => (
            <EditCard key={`${item.edit.type}/${item.edit.name}/${item.edit.variant ?? ""}`} item={item} planned={plannedOf(item, prepared, planned)} faults={at.get(item) ?? []} findings={told.at.get(item) ?? []} changed={deletions.changed.get(item.edit)} onDrop={() => onDrop(item.edit)} />
          ))}
        </Stack>
      </Section>
      <Section title="Publish">
        {mayWrite(me) ? <PublishDraft draft={draft} prepared={prepared} plan={planned} deletions={deletions} onRefused={setWriteError} onLookAgain={lookAgain} /> : <Text size="sm">{whyNotWrite(me)}</Text>}
      </Section>
    </Page>
  );
}

function NotPlanned({ error, rest }: { error: Error; rest: boolean }) {
  if (error instanceof Refused && error.status === 412) {
    return (
      <Stack gap="xs">
        <Text size="sm" fw={600} role="alert">
          Others have changed what you edit since you read it.
        </Text>
        {rest ? <LastChanges error={error} /> : <Text size="sm">Who did stands at the edits below.</Text>}
      </Stack>
    );
  }
  if (rest) return <ProblemAlert error={error} />;
  return (
    <Text size="sm" role="alert">
      It cannot be planned as it stands: what is wrong is told at the edits below. Fix those, or drop them.
    </Text>
  );
}

/** The fleet has gone on since the plan. */
function Moved({ plan }: { plan: Plan }) {
  const { tenant, fleet } = usePlace();
  const now = useQuery(fleetQuery(tenant, fleet)).data?.revision ?? 0;
  if (now <= plan.revision) return null;
  return (
    <Text size="sm" role="status">
      The fleet is at revision {now} by now. Publishing is refused only if what you edit has changed; refresh to see it as it is.
    </Text>
  );
}

function DropAll({ count, onDrop }: { count: number; onDrop: () => void }) {
  const [asked, setAsked] = useState(false);
  return asked ? (
    <Group gap="xs">
      <Button color="red" onClick={onDrop}>
        Drop {count === 1 ? "1 edit" : `all ${count} edits`}
      </Button>
      <Button variant="default" onClick={() => setAsked(false)}>
        Keep
      </Button>
    </Group>
  ) : (
    <Button variant="default" onClick={() => setAsked(true)}>
      Drop all
    </Button>
  );
}

interface PublishProps {
  draft: Draft;
  prepared: Prepared;
  plan: Plan | undefined;
  deletions: Deletions;
  onRefused: (error: Refused) => void;
  onLookAgain: () => void;
}

function PublishDraft({ draft, prepared, plan, deletions, onRefused, onLookAgain }: PublishProps) {
  const { tenant, author, fleet } = usePlace();
  const toReceipt = useToReceipt();
  const [sent, setSent] = useState(false);
  const { message, edits, asked } = draft;
  const write = useWrite("apply", tenant, fleet, {
    stored: ({ revision }) => {
      published(author, fleet, edits);
      toReceipt(revision);
    },
    refused: () => setAsked(author, fleet, undefined),
  });
  const send = (key: string, token: Token) => {
    // Told beforehand: should no answer come, not even to this tab, the same request can be sent again.
    setSent(true);
    setAsked(author, fleet, { key, ...token, at: new Date().toISOString() });
    write.mutate(
      { key, body: requestOf(prepared, { message, [token.confirmed ? "confirm" : "plan"]: token.token }) },
      {
        onError: (e) => {
          if (e instanceof Refused) onRefused(e);
        },
      },
    );
  };
  const askAgain = () => {
    if (asked) send(asked.key, asked);
  };
  const forget = () => {
    setAsked(author, fleet, undefined);
    write.reset();
    onLookAgain();
  };
  // Of before a reload, or of another tab.
  if (asked && !sent) return <NoAnswer onAskAgain={askAgain} onForget={forget} />;
  if (!plan) return <Text size="sm" c="dimmed">It can be published when there is a plan.</Text>;
  return (
    <Publish
      key={plan.token}
      verb="Publish"
      plan={plan}
      message={message}
      onMessage={(m) => setMessage(author, fleet, m)}
      write={write}
      onSend={(token) => send(newKey(), token)}
      onAskAgain={askAgain}
      onForget={forget}
      onLookAgain={() => {
        write.reset();
        onLookAgain();
      }}
      blocked={blockedBy(prepared, plan, deletions)}
    />
  );
}

/** Why it cannot be published as it is. */
function blockedBy(prepared: Prepared, plan: Plan, { changed, asking, error }: Deletions): string | undefined {
  const broken = prepared.items.filter((i) => i.faults.length > 0).length;
  if (broken > 0) return `${broken === 1 ? "1 edit" : `${broken} edits`} cannot be read: fix or drop what is told above.`;
  if (changesNothing(plan)) return "The fleet has all of this already: there is nothing to publish.";
  if (error) return `Whether others have changed what is to be deleted could not be read: ${error.message} Refresh.`;
  if (asking) return "It is looked up whether others have changed what is to be deleted.";
  if (changed.size > 0) return `Others have changed ${changed.size === 1 ? "1 resource" : `${changed.size} resources`} that you delete: say above what is meant.`;
  return undefined;
}

function plannedOf(item: Item, prepared: Prepared, plan: Plan | undefined) {
  if (!plan || item.pointer === undefined) return undefined;
  const at = Number(item.pointer.slice(item.pointer.lastIndexOf("/") + 1));
  return plan.resources[item.pointer.startsWith("/delete") ? prepared.resources.length + at : at];
}

function findingsAt(items: readonly Item[], plan: Plan | undefined): { at: Map<Item, Finding[]>; rest: Finding[] } {
  const at = new Map<Item, Finding[]>();
  const rest: Finding[] = [];
  for (const f of plan?.findings?.items ?? []) {
    const found = placeIn(items, f.at);
    if (found) at.set(found.item, [...(at.get(found.item) ?? []), f]);
    else rest.push(f);
  }
  return { at, rest };
}
