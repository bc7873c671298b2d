// Filters stand in the address: a view is shared by its link, and the way back works.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";

/** The words behind the "?" of the address, and how to set some of them. Without a value a word goes. */
export function useFilters(): [Readonly<Record<string, string | undefined>>, (next: Record<string, string | undefined>) => void] {
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const set = useCallback(
    (next: Record<string, string | undefined>) => {
      void navigate({ to: ".", search: (old) => ({ ...old, ...next }), state: true, replace: true, resetScroll: false });
    },
    [navigate],
  );
  return [search, set];
}
