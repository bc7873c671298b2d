// The installation: its tenants, and who operates it.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, take } from "../api/client";
import { useSession } from "../app/session";
import { EndOthers, SessionTable } from "../settings/sessions";
import { TextLink } from "../ui/link";
import { Loaded } from "../ui/loaded";
import { Empty, Page, Section } from "../ui/page";
import { Pager } from "../ui/pager";
import { useFilters } from "../ui/search";
import { operatorSessionsQuery } from "./queries";
import { Servers } from "./servers";
import { Tenants } from "./tenants";
import { OperatorTokens } from "./tokens";

export function Operator() {
  const { me } = useSession();
  if (me.kind !== "operator") {
    return (
      <Page title="Operator">
        <Empty title="For operators">
          You are signed in with a token of the tenant {me.tenant}. Tenants and servers are seen with an operator's token. <TextLink to="/" inherit underline="always">To the fleets</TextLink>
        </Empty>
      </Page>
    );
  }
  return (
    <Page
      title="Tenants and servers"
      about="The installation as its operators see it. What is in a tenant's fleets they do not see."
    >
      <Section title="Tenants">
        <Tenants />
      </Section>
      <Servers />
      <Section title="Operator tokens">
        <OperatorTokens />
      </Section>
      <Section title="Sessions of operators" aside={me.session && <EndOthers />}>
        <OperatorSessions />
      </Section>
    </Page>
  );
}

function OperatorSessions() {
  const [filters] = useFilters();
  const client = useQueryClient();
  const asked = useQuery(operatorSessionsQuery(filters.sessions));
  return (
    <Loaded query={asked} height={180}>
      {(list) => (
        <>
          <SessionTable
            items={list.items}
            end={async (id) => {
              await take(api.DELETE("/v1/operator/sessions/{id}", { params: { path: { id } } }));
              await client.invalidateQueries({ queryKey: ["operator-sessions"] });
            }}
          />
          <Pager of="sessions" word="sessions" next={list.next_cursor} />
        </>
      )}
    </Loaded>
  );
}
