// From nothing to a node: its credential, the file that it starts with, and the moment when it is there. What is asked
// stands in the address, but never the token.
import { Stack } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePlace } from "../app/place";
import { fleetQuery } from "../api/queries";
import { Page } from "../ui/page";
import { useFilters } from "../ui/search";
import { Arrival } from "./arrival";
import { wanted } from "./bootstrap";
import { ConnectCredential, type Made } from "./connect-credential";
import { ConnectFiles } from "./connect-files";
import { ConnectQuestions } from "./connect-questions";
import { Steps } from "./steps";

export function Connect() {
  const { tenant, fleet } = usePlace();
  const [words] = useFilters();
  const [made, setMade] = useState<Made>();
  const settled = useDebouncedValue(words, 300)[0]; // nothing is asked for each letter
  const about = useQuery(fleetQuery(tenant, fleet));
  const first = about.data?.revision === 0;
  const nodes = about.data?.counts?.nodes;
  const w = wanted(words, fleet, location.hostname);
  return (
    <Page title="Connect a node" about={`To the fleet ${fleet}: say what connects, make its token, start it with the file.`}>
      <Stack gap="lg">
        {first && <Steps now={nodes === undefined || nodes.live + nodes.refusing + nodes.offline === 0 ? 2 : 3} />}
        <ConnectQuestions wanted={w} />
        <ConnectCredential tenant={tenant} fleet={fleet} wanted={w} made={made} onMade={setMade} />
        <ConnectFiles tenant={tenant} fleet={fleet} words={settled} token={made?.token} />
        <Arrival tenant={tenant} fleet={fleet} node={wanted(settled, fleet, location.hostname).node} first={first} />
      </Stack>
    </Page>
  );
}
