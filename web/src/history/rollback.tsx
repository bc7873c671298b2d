// The way back: what it would change, for whom, and then do it.
import { Alert, Box, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import type { Plan, RollbackRequest, VariantRef } from "../api/client";
import { usePlace } from "../app/place";
import { useMe } from "../app/session";
import { rollbackPlanQuery } from "../draft/plan-query";
import { ActionBadge, changesNothing, FindingLines, PlanSummary, ReachOfOne, WarningLines } from "../draft/plan-view";
import { Publish } from "../draft/publish";
import { mayWrite, whyNotWrite } from "../draft/rights";
import { newKey, useToReceipt, useWrite } from "../draft/write";
import { TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Empty, Page, Section } from "../ui/page";
import { useFilters } from "../ui/search";
import { PatchOf } from "./patch-view";
import { revisionOf, revisionQuery, typeOf } from "./queries";
import { nameOf, ResourceLink } from "./resource-link";

export function Rollback() {
  const { tenant, fleet } = usePlace();
  const me = useMe();
  const { revision: word } = useParams({ from: "/fleets/$fleet/rollback/$revision" });
  const one = useOne();
  const revision = revisionOf(word);
  const known = typeof revision === "number" && revision > 0;
  const of = useQuery({ ...revisionQuery(tenant, fleet, known ? revision : "latest"), enabled: known });
  if (!known) {
    return (
      <Page title="Roll back">
        <Empty title="There is no such revision">
          What was there at a revision from 1 on can be brought back. <TextLink to="/fleets/$fleet/history" params={{ fleet }}>To the history</TextLink>
        </Empty>
      </Page>
    );
  }
  const title = one ? `Roll back ${nameOf(one)}` : `Roll back to revision ${revision}`;
  return (
    <Page
      title={title}
      about={
        <>
          {one ? `It becomes what it was at revision ${revision}; all else stays as it is.` : `The fleet becomes what it was at revision ${revision}, as a new revision.`} Nodes that have it already are sent nothing.
          {of.data?.message && (
            <Text size="sm" className="words">
              Revision {revision}: {of.data.message}
            </Text>
          )}
        </>
      }
    >
      {mayWrite(me) ? <Planned key={`${revision}/${one ? nameOf(one) : ""}`} revision={revision} one={one} /> : <Alert color="gray" title="Not with this role">{whyNotWrite(me)}</Alert>}
    </Page>
  );
}

/** The one resource that is meant, if it is not all. */
function useOne(): VariantRef | undefined {
  const [search] = useFilters();
  const type = typeOf(search["type"]);
  const { name, variant } = search;
  return type && name ? { type, name, ...(variant ? { variant } : {}) } : undefined;
}

function Planned({ revision, one }: { revision: number; one: VariantRef | undefined }) {
  const { tenant, fleet } = usePlace();
  const request: RollbackRequest = { revision, ...(one ? { resources: [one] } : {}) };
  const plan = useQuery(rollbackPlanQuery(tenant, fleet, request));
  const [message, setMessage] = useState(""); // outlives a plan
  return (
    <Loaded query={plan} height={320}>
      {(p) => (
        <Stack gap="lg">
          <Section title="What it would do">
            <Stack gap="sm">
              <PlanSummary plan={p} />
              {p.findings && p.findings.items.length > 0 && <FindingLines findings={p.findings.items} />}
              {p.warnings && p.warnings.length > 0 && <WarningLines warnings={p.warnings} />}
            </Stack>
          </Section>
          <PlannedChanges plan={p} />
          <Section title="Roll back">
            <Confirmed key={p.token} plan={p} request={request} message={message} onMessage={setMessage} onLookAgain={() => void plan.refetch()} />
          </Section>
        </Stack>
      )}
    </Loaded>
  );
}

const most = 50;

function PlannedChanges({ plan }: { plan: Plan }) {
  const { fleet } = usePlace();
  const changed = plan.resources.filter((r) => r.action !== "unchanged");
  if (changed.length === 0) return null;
  return (
    <Section title="Resources">
      <Stack gap="md">
        {changed.slice(0, most).map((r) => (
          <Box key={nameOf(r)} component="section" aria-label={nameOf(r)}>
            <Stack gap="xs">
              <Group gap="sm">
                <ActionBadge action={r.action} />
                <Title order={3} size="h5" className="words">
                  <ResourceLink of={r} />
                </Title>
              </Group>
              <ReachOfOne planned={r} />
              <PatchOf label={`What changes in ${nameOf(r)}`} of={r} />
            </Stack>
          </Box>
        ))}
        {changed.length > most && (
          <Text size="sm">
            And {changed.length - most} more. <TextLink to="/fleets/$fleet/history" params={{ fleet }}>Compare revisions in the history</TextLink> to see all.
          </Text>
        )}
      </Stack>
    </Section>
  );
}

interface ConfirmedProps {
  plan: Plan;
  request: RollbackRequest;
  message: string;
  onMessage: (message: string) => void;
  onLookAgain: () => void;
}

function Confirmed({ plan, request, message, onMessage, onLookAgain }: ConfirmedProps) {
  const { tenant, fleet } = usePlace();
  const toReceipt = useToReceipt();
  const write = useWrite("rollback", tenant, fleet, { stored: ({ revision }) => toReceipt(revision) });
  const lookAgain = () => {
    write.reset();
    onLookAgain();
  };
  return (
    <Publish
      verb="Roll back"
      plan={plan}
      message={message}
      onMessage={onMessage}
      write={write}
      onSend={({ token, confirmed }) => write.mutate({ key: newKey(), body: JSON.stringify({ ...request, ...(message === "" ? {} : { message }), [confirmed ? "confirm" : "plan"]: token }) })}
      onAskAgain={() => {
        if (write.variables) write.mutate(write.variables);
      }}
      onForget={lookAgain}
      onLookAgain={lookAgain}
      {...(changesNothing(plan) ? { blocked: "The fleet has this content already: there is nothing to roll back." } : {})}
    />
  );
}
