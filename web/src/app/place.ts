import { useParams } from "@tanstack/react-router";
import { useMe } from "./session";

/** The tenant and the fleet that the address names. Below a fleet's pages alone. */
export function usePlace(): { tenant: string; fleet: string } {
  const me = useMe();
  const { fleet } = useParams({ from: "/fleets/$fleet" });
  return { tenant: me.tenant ?? "", fleet };
}
