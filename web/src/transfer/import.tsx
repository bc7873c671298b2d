// Import: an Envoy's own configuration becomes documents, and those that are chosen become a draft.
import { Alert } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, isPassing, take } from "../api/client";
import { usePlace } from "../app/place";
import { may, useMe } from "../app/session";
import { Page } from "../ui/page";
import { ProblemAlert } from "../ui/problem";
import { Found } from "./import-found";
import { Source, type Given } from "./import-source";

export function Import() {
  const { tenant, fleet } = usePlace();
  const me = useMe();
  const [round, setRound] = useState(0);
  const look = useMutation({
    mutationFn: ({ text, rds, eds }: Given) => {
      // JSON is YAML too, but the server tells faults of JSON better when it knows that it is.
      const type = text.trimStart().startsWith("{") ? "application/json" : "application/yaml";
      return take(
        api.POST("/v1/tenants/{tenant}/fleets/{fleet}/import", {
          params: { path: { tenant, fleet }, query: { rds, eds } },
          body: {},
          bodySerializer: () => text,
          headers: { "Content-Type": type },
        }),
      );
    },
    onSuccess: () => setRound((n) => n + 1),
  });
  return (
    <Page
      title="Import"
      about="From an Envoy's own configuration: a file with static_resources, or the answer of its admin page at /config_dump. Nothing is written: what you choose goes into the draft."
    >
      {may(me, "ci") ? (
        <Source busy={look.isPending} onGiven={(given) => look.mutate(given)} />
      ) : (
        <Alert color="yellow" title="You may look at this fleet, and not write to it">
          An import is for who may write: ask for a token of the role editor, or more. What the fleet has is under Resources and Topology.
        </Alert>
      )}
      {look.error && <ProblemAlert error={look.error} title="It could not be read" retry={isPassing(look.error) ? () => look.mutate(look.variables) : undefined} />}
      {look.data && <Found key={round} found={look.data} />}
    </Page>
  );
}
