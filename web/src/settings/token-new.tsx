import { Button, Checkbox, Group, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, take, type Role, type TokenCreate } from "../api/client";
import { ProblemAlert } from "../ui/problem";
import { Expiry, expiresAt } from "./expiry";
import { FleetName } from "./fleet-name";
import { ShownOnce } from "./once";
import { roleWords } from "./words";

interface Props {
  tenant: string;
  roles: readonly Role[];
  mayHandOver: boolean;
  /** What stands in the form at first. */
  name?: string;
  role?: Role;
  /** Operators see no names of fleets, and their tokens stand alone. */
  operator?: boolean;
  close: () => void;
}

interface Form {
  name: string;
  role: Role;
  fleet: string;
  days: string;
  secrets: boolean;
  /** The secrets that it may use, separated by commas. */
  uses: string;
  handedOver: boolean;
}

/** What the contract takes of the form. */
export function tokenBody(form: Form, now: number): TokenCreate {
  return {
    name: form.name.trim(),
    role: form.role,
    ...(form.fleet.trim() === "" ? {} : { fleet: form.fleet.trim() }),
    ...(form.role === "ci" && form.secrets ? { writes_secrets: true } : {}),
    ...(mayBeGranted(form.role) && grantsOf(form.uses).length > 0 ? { uses_secrets: grantsOf(form.uses) } : {}),
    ...(form.handedOver ? { handed_over: true } : {}),
    ...expiresAt(form.days, now),
  };
}

/** The roles that use secrets by a grant; those above use all, a viewer none. */
function mayBeGranted(role: Role): boolean {
  return role === "ci" || role === "editor";
}

function grantsOf(text: string): string[] {
  return text.split(",").map((s) => s.trim()).filter((s) => s !== "");
}

export function NewToken({ tenant, roles, mayHandOver, name = "", role = "viewer", operator = false, close }: Props) {
  const client = useQueryClient();
  const [form, setForm] = useState<Form>({ name, role, fleet: "", days: "", secrets: false, uses: "", handedOver: false });
  const set = (next: Partial<Form>) => setForm((old) => ({ ...old, ...next }));
  const make = useMutation({
    gcTime: 0, // what is shown once is not kept
    mutationFn: () => take(api.POST("/v1/tenants/{tenant}/tokens", { params: { path: { tenant } }, body: tokenBody(form, Date.now()) })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["tokens", tenant] }),
  });
  if (make.data) return <ShownOnce what="API token" secret={make.data.token} about={`“${make.data.api_token.name}”, ${roleWords[make.data.api_token.role]}.`} close={close} />;
  const ready = form.name.trim() !== "" && (form.role !== "ci" || form.fleet.trim() !== "");
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        make.mutate();
      }}
    >
      <Stack gap="md">
        <TextInput label="Name" description="Who or what it is for. It stands beside all that is done with it." value={form.name} autoComplete="off" data-autofocus onChange={(e) => set({ name: e.currentTarget.value })} />
        <NativeSelect
          label="Role"
          value={form.role}
          data={roles.map((r) => ({ value: r, label: roleWords[r] }))}
          onChange={(e) => {
            const chosen = roles.find((r) => r === e.currentTarget.value);
            if (chosen) set({ role: chosen, days: "" });
          }}
        />
        <FleetName tenant={tenant} label={form.role === "ci" ? "Fleet" : "Fleet (all, if left empty)"} value={form.fleet} suggest={!operator} set={(fleet) => set({ fleet })} />
        {form.role === "ci" && <Checkbox label="It may write secrets" checked={form.secrets} onChange={(e) => set({ secrets: e.currentTarget.checked })} />}
        {mayBeGranted(form.role) && (
          <TextInput
            label="Secrets that it may use"
            description="For more than TLS of the same team: names, beginnings of names with *, or labels as key=value, separated by commas. What it writes can send them to anybody."
            value={form.uses}
            autoComplete="off"
            onChange={(e) => set({ uses: e.currentTarget.value })}
          />
        )}
        <Expiry value={form.days} most={form.role === "ci" ? 90 : 366} usual={operator || form.handedOver ? "90 days" : "90 days, or until your own token ends"} set={(days) => set({ days })} />
        {mayHandOver && (
          <Checkbox
            label="Hand it over"
            description="It does not end when your own token does. For what is to stay when you go: a pipeline's, the next owner's."
            checked={form.handedOver}
            onChange={(e) => set({ handedOver: e.currentTarget.checked })}
          />
        )}
        {make.error !== null && <ProblemAlert error={make.error} title="No token was made" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Leave it
          </Button>
          <Button type="submit" loading={make.isPending} disabled={!ready}>
            Make it
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
