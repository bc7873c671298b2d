import { queryOptions } from "@tanstack/react-query";
import { api, take } from "../api/client";

/** The tenant's fleets to choose from, without their counts. */
export const targetsQuery = (tenant: string) =>
  queryOptions({
    queryKey: ["promote-targets", tenant],
    queryFn: ({ signal }) => take(api.GET("/v1/tenants/{tenant}/fleets", { params: { path: { tenant }, query: { limit: 500 } }, signal })),
    meta: { follows: ["fleets"] },
  });
