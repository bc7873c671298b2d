import { useParams } from "@tanstack/react-router";
import type { Author } from "../draft/store";
import { useSession } from "./session";

/** The tenant, the fleet that the address names, and whose drafts are shown. Below a fleet's pages alone. */
export function usePlace(): { tenant: string; fleet: string; author: Author } {
  const { me, author } = useSession();
  const { fleet } = useParams({ from: "/fleets/$fleet" });
  return { tenant: me.tenant ?? "", fleet, author };
}
