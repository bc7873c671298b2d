import { useQuery } from "@tanstack/react-query";
import { Outlet } from "@tanstack/react-router";
import { Refused } from "../api/client";
import { fleetQuery } from "../api/queries";
import { Empty } from "../ui/page";
import { usePlace } from "./place";

/** All pages of one fleet. One that is not there is told once, and not by each part of a page. */
export function FleetFrame() {
  const { tenant, fleet } = usePlace();
  const { error } = useQuery(fleetQuery(tenant, fleet));
  if (error instanceof Refused && error.status === 404) {
    return <Empty title={`There is no fleet ${fleet}`}>It was deleted, or it is not one that this token sees. The fleets that there are stand on the first page.</Empty>;
  }
  return <Outlet />;
}
