import { useQueryClient } from "@tanstack/react-query";
import { api, take } from "../api/client";
import { ConfirmButton } from "../settings/confirm";

export function DeleteTenant({ tenant }: { tenant: string }) {
  const client = useQueryClient();
  return (
    <ConfirmButton
      label="Delete"
      name={`Delete ${tenant}`}
      title={`Delete the tenant ${tenant}?`}
      doIt="Delete it"
      type={tenant}
      action={async (confirm) => {
        await take(api.DELETE("/v1/tenants/{tenant}", { params: { path: { tenant }, query: confirm === undefined ? {} : { confirm } } }));
        await client.invalidateQueries({ queryKey: ["tenants"] });
      }}
    >
      All tokens of {tenant} are refused from now on, and the streams of its nodes end. The proxies go on with what they have. For 30 days it can be restored, then all of it is removed, with its audit.
    </ConfirmButton>
  );
}

export function RestoreTenant({ tenant }: { tenant: string }) {
  const client = useQueryClient();
  return (
    <ConfirmButton
      label="Restore"
      name={`Restore ${tenant}`}
      title={`Restore the tenant ${tenant}?`}
      doIt="Restore it"
      harmless
      action={async () => {
        await take(api.POST("/v1/tenants/{tenant}/restore", { params: { path: { tenant } } }));
        await client.invalidateQueries({ queryKey: ["tenants"] });
      }}
    >
      {tenant} is again what it was, with the fleets that were deleted with it. Its tokens and the credentials of its nodes work again, but for those that expired meanwhile.
    </ConfirmButton>
  );
}
