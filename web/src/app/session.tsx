// Who is signed in. Without a session nothing of the tenant stays on screen; the address stays, so that one comes back to
// where one was, and drafts are in the browser.
import { Center, Loader, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { createContext, Suspense, use, useCallback, useEffect, useMemo, useState, type ReactNode } from "react";
import { api, Refused, take, whenSignedOut, type Whoami } from "../api/client";
import { queryClient } from "../api/follow";
import { whoami } from "../api/queries";
import { tellSignedIn, whenSignedIn } from "./signed-in";
import { authorOf, forgetSecrets, type Author } from "../draft/store";
import { later } from "../ui/later";
import { ProblemAlert } from "../ui/problem";

interface Signed {
  me: Whoami;
  /** Whose drafts are shown. */
  author: Author;
  signOut: () => Promise<void>;
}

const SignIn = later(() => import("./sign-in").then((m) => m.default));

const Context = createContext<Signed | null>(null);

/** The one who is signed in. Below Session alone. */
export function useMe(): Whoami {
  return useSession().me;
}

export function useSession(): Signed {
  const signed = use(Context);
  if (!signed) throw new Error("nobody is signed in here");
  return signed;
}

const order = ["viewer", "ci", "editor", "admin", "owner"];

/** Whether the caller's role is this one or more. The server decides; this only hides what it would refuse. */
export function may(me: Whoami, least: "editor" | "admin" | "owner" | "ci"): boolean {
  return me.role !== undefined && order.indexOf(me.role) >= order.indexOf(least);
}

const answerWithin = 5000;

/** Asks who is signed in by now. A session is the browser's: in another tab somebody else may have signed in, and then nothing of who was here before stays. */
async function askWho(): Promise<Whoami> {
  const found = await take(api.GET("/v1/whoami", { signal: AbortSignal.timeout(answerWithin) }));
  const known = queryClient.getQueryData(whoami.queryKey);
  if (known !== undefined && known.id !== found.id) {
    queryClient.removeQueries({ predicate: (q) => q.queryKey[0] !== whoami.queryKey[0] });
    forgetSecrets();
    queryClient.setQueryData(whoami.queryKey, found);
  }
  return found;
}

/** Whether the one who is signed in is still the author. What somebody else has typed is not sent in their name. */
export async function stillSignedIn(author: Author): Promise<void> {
  const found = authorOf(await askWho());
  if (found.token !== author.token || found.tenant !== author.tenant) throw new Error("Somebody else has signed in on this browser meanwhile. Nothing was sent; the draft stays with its author.");
}

/** Asks whether the session still holds. False where the server does not answer; a session that has ended signs out. */
export async function checkSession(): Promise<boolean> {
  try {
    await askWho();
    return true;
  } catch (e) {
    return e instanceof Refused && e.status !== 503;
  }
}

export function Session({ children }: { children: ReactNode }) {
  const [ended, setEnded] = useState<"no" | "signed-out" | "ended">("no");
  const asked = useQuery({ ...whoami, enabled: ended === "no" });

  const leave = useCallback((how: "signed-out" | "ended") => {
    setEnded(how);
    queryClient.clear(); // nothing of the tenant stays in the tab
    forgetSecrets();
  }, []);

  const refused = asked.error instanceof Refused && asked.error.status === 401;
  const me = asked.data;
  useEffect(() => {
    whenSignedOut(() => {
      if (queryClient.getQueryData(whoami.queryKey)) leave("ended");
    });
  }, [leave]);

  const value = useMemo<Signed | null>(
    () =>
      me
        ? {
            me,
            author: authorOf(me),
            signOut: async () => {
              await take(api.DELETE("/v1/session"));
              leave("signed-out");
            },
          }
        : null,
    [me, leave],
  );

  // Another tab signs in: the session is the browser's, so this one goes on where it was, as whoever it is by now.
  const away = ended !== "no" || refused;
  useEffect(
    () =>
      whenSignedIn(() => {
        askWho().then(
          (found) => {
            if (!away) return;
            queryClient.setQueryData(whoami.queryKey, found);
            setEnded("no");
          },
          () => undefined, // still nobody
        );
      }),
    [away],
  );

  if (away) {
    return (
      <Suspense>
        <SignIn
          ended={ended === "ended"}
          onSignedIn={() => {
            void queryClient.resetQueries({ queryKey: whoami.queryKey });
            setEnded("no");
            tellSignedIn();
          }}
        />
      </Suspense>
    );
  }
  if (value) return <Context key={value.me.id} value={value}>{children}</Context>;
  return <Waiting failed={asked.failureReason} again={asked.error === null ? undefined : () => void asked.refetch()} />;
}

/** Nothing is known yet. What passes is asked again by itself. */
function Waiting({ failed, again }: { failed: Error | null; again: (() => void) | undefined }) {
  return (
    <Center mih="60vh" p="md">
      {failed ? (
        <Stack gap="xs">
          <ProblemAlert error={failed} retry={again} />
          {!again && (
            <Text size="sm" c="dimmed">
              The page asks again every few seconds, and comes by itself.
            </Text>
          )}
        </Stack>
      ) : (
        <Loader aria-label="Loading" />
      )}
    </Center>
  );
}
