// A part of the page that comes when it is first needed. One that does not come is told in its place, and the rest of
// the page stays: a reload without a server would end in the browser's own error page.
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { createElement, use, useCallback, useState, type ComponentType } from "react";
import { outagesEnded, useRecovered } from "../api/live";
import { installed, reloadOnce } from "../api/version";
import { styles } from "./styles";

/** Why it is not here: no answer, a newer page is installed, it just failed, or it failed again though the server answers. */
type Missing = "none" | "newer" | "once" | "again";
/** since: how many outages had ended when it was asked for. */
type Got<P> = { part: ComponentType<P> } | { missing: Missing; since: number };

interface Options {
  /** The page may reload itself for a newer version: nothing is lost by it. */
  mayReload?: () => boolean;
}

export function later<P extends object>(load: () => Promise<ComponentType<P>>, { mayReload }: Options = {}) {
  let last: Promise<Got<P>> | undefined;
  let got: Got<P> | undefined; // what last has come to
  const arrive = async (): Promise<Got<P>> => {
    const since = outagesEnded();
    try {
      await styles();
      return { part: await load() };
    } catch {
      const answer = await installed();
      if (answer === "newer" && mayReload?.() && reloadOnce()) return new Promise(() => undefined); // it goes on after the reload
      if (answer !== "this") return { missing: answer, since };
      return { missing: got === undefined ? "once" : "again", since };
    }
  };
  const ask = () => (last ??= arrive().then((g) => (got = g)));
  /** Asks again for what did not come. What is on screen stays until there is an answer. */
  const askAgain = async () => {
    if (got === undefined || "part" in got) {
      await ask();
      return;
    }
    const next = arrive();
    got = await next;
    last = next;
  };
  const Later = (props: P) => {
    const [busy, setBusy] = useState(false);
    const [, setTries] = useState(0); // busy may be as it was before when what has come is to be shown
    const again = useCallback(() => {
      setBusy(true);
      void askAgain().then(() => {
        setTries((n) => n + 1);
        setBusy(false);
      });
    }, []);
    const it = use(ask());
    if ("part" in it) return createElement(it.part, props);
    return <NotHere missing={it.missing} since={it.since} busy={busy} again={again} />;
  };
  Later.preload = askAgain;
  return Later;
}

const words: Record<Missing, string> = {
  none: "The server does not answer, so this part of the page cannot come. The rest of the page stays as it is.",
  newer: "A newer version of this page is installed. Reload to go on with it. Drafts are kept in this browser; secrets that were typed and not published are not.",
  once: "This part of the page did not come.",
  again: "This part of the page does not come, though the server answers. A reload may help. Drafts are kept in this browser; secrets that were typed and not published are not.",
};

function NotHere({ missing, since, busy, again }: { missing: Missing; since: number; busy: boolean; again: () => void }) {
  useRecovered(again, since);
  const reload = missing === "newer" || missing === "again";
  return (
    <Alert color="red" role="alert" title={missing === "none" ? "No answer" : "Not here"}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{words[missing]}</Text>
        <Group>
          <Button size="xs" variant="default" loading={busy} onClick={again}>
            Try again
          </Button>
          {reload && (
            <Button size="xs" variant="default" onClick={() => location.reload()}>
              Reload the page
            </Button>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}
