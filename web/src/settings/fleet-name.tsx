// The name of a fleet, with those that there are.
import { Autocomplete } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { fleetNamesQuery } from "./queries";

interface Props {
  tenant: string;
  label: string;
  value: string;
  set: (name: string) => void;
  /** Called when one was chosen, or the field is left. */
  done?: (name: string) => void;
  suggest?: boolean;
  flex?: string;
}

export function FleetName({ tenant, label, value, set, done, suggest = true, flex }: Props) {
  const [prefix] = useDebouncedValue(value.trim(), 200);
  const names = useQuery({ ...fleetNamesQuery(tenant, prefix), enabled: suggest, placeholderData: keepPreviousData });
  return (
    <Autocomplete
      label={label}
      value={value}
      data={names.data ?? []}
      filter={({ options }) => options}
      autoComplete="off"
      {...(flex === undefined ? {} : { flex })}
      onChange={set}
      onOptionSubmit={(name) => done?.(name)}
      onBlur={() => done?.(value.trim())}
      onKeyDown={(e) => {
        if (e.key === "Enter") done?.(value.trim());
      }}
    />
  );
}
