// One way to show what is asked for: while it comes, when it fails, and when it is there.
import { Skeleton, Stack } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ProblemAlert } from "./problem";

interface Props<T> {
  query: Pick<UseQueryResult<T>, "data" | "error" | "refetch">;
  /** The height of what comes, in px, so that nothing jumps. */
  height?: number;
  children: (data: T) => ReactNode;
}

/** What was read before stays on screen when asking again fails, below the words about it. */
export function Loaded<T>({ query, height = 160, children }: Props<T>) {
  const { data, error } = query;
  const failed = error !== null && <ProblemAlert error={error} retry={() => void query.refetch()} />;
  if (data === undefined) {
    return failed || <Skeleton h={height} radius="md" role="progressbar" aria-label="Loading" aria-busy="true" />;
  }
  if (!failed) return <>{children(data)}</>;
  return (
    <Stack gap="md">
      {failed}
      {children(data)}
    </Stack>
  );
}
