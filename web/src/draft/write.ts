// A write that is made once, whatever becomes of its answer: what is asked again is the same request with the same key.
import { useMutation, type UseMutationResult } from "@tanstack/react-query";
import { useLocation, useRouter } from "@tanstack/react-router";
import { api, isPassing, Refused, take, type WriteResult } from "../api/client";
import { usePlace } from "../app/place";
import { stillSignedIn, useSession } from "../app/session";

export interface Sent {
  /** The Idempotency-Key. */
  key: string;
  /** The very bytes. */
  body: string;
}

export type Write = UseMutationResult<WriteResult, Error, Sent>;

/** A key of its own for a request. Not randomUUID, which a page without TLS does not have. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}

/** What is asked in "on" is done even where nobody looks any more. */
export function useWrite(operation: "apply" | "rollback", tenant: string, fleet: string, on: { stored: (result: WriteResult) => void; refused?: () => void }): Write {
  const { author } = useSession();
  return useMutation({
    mutationFn: async ({ key, body }: Sent) => {
      await stillSignedIn(author);
      const params = { path: { tenant, fleet }, header: { "Idempotency-Key": key } };
      const bodySerializer = () => body;
      return operation === "apply"
        ? take(api.POST("/v1/tenants/{tenant}/fleets/{fleet}/apply", { params, body: {}, bodySerializer }))
        : take(api.POST("/v1/tenants/{tenant}/fleets/{fleet}/rollback", { params, body: { revision: 1 }, bodySerializer }));
    },
    retry: (failures, error) => isPassing(error) && failures < 3,
    retryDelay: (failures) => Math.min(1000 * 2 ** failures, 8000),
    networkMode: "always", // that there is no answer is told, and not waited for in silence
    onSuccess: on.stored,
    onError: (error) => {
      if (!isUnknown(error)) on.refused?.();
    },
  });
}

/** Leads to the receipt of what was written, for who is still where it was sent. */
export function useToReceipt(): (revision: number) => void {
  const { fleet } = usePlace();
  const router = useRouter();
  const sentFrom = useLocation({ select: (l) => l.pathname });
  return (revision) => {
    if (router.state.location.pathname === sentFrom) void router.navigate({ to: "/fleets/$fleet/history/$revision", params: { fleet, revision: String(revision) } });
  };
}

/** Whether nobody knows if it was stored. */
export const isUnknown = (error: unknown): boolean => isPassing(error) && !(error instanceof Refused && error.status === 429);
