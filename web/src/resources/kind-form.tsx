// The fields of a kind of resource.
import { Autocomplete, NumberInput, Select, Stack, Switch, Textarea, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { usePlace } from "../app/place";
import { namesQuery } from "./queries";
import { fieldFault, type Field, type Kind, type Values } from "./templates";

interface Props {
  kind: Kind;
  values: Values;
  onChange: (name: string, value: string) => void;
}

export function KindForm({ kind, values, onChange }: Props) {
  return (
    <Stack gap="sm" maw="40rem" component="form" aria-label={kind.title} onSubmit={(e) => e.preventDefault()}>
      {kind.fields.map((f) => (f.when?.(values) ?? true) && <One key={f.name} field={f} value={values[f.name] ?? ""} onChange={(v) => onChange(f.name, v)} />)}
    </Stack>
  );
}

interface OneProps {
  field: Field;
  value: string;
  onChange: (value: string) => void;
}

function One({ field, value, onChange }: OneProps) {
  const fault = fieldFault(field, value);
  const common = { label: field.label, description: field.about, placeholder: field.placeholder, required: field.optional !== true && field.kind !== "switch", error: fault === "" ? undefined : fault };
  switch (field.kind) {
    case "number":
      return <NumberInput {...common} value={value === "" ? "" : Number(value)} onChange={(v) => onChange(String(v))} min={1} max={65535} allowDecimal={false} clampBehavior="none" maw="12rem" />;
    case "lines":
      return <Textarea {...common} value={value} onChange={(e) => onChange(e.currentTarget.value)} rows={3} resize="vertical" spellCheck={false} />;
    case "choice":
      return <Select {...common} value={value} data={field.choices ?? []} allowDeselect={false} onChange={(v) => onChange(v ?? "")} />;
    case "switch":
      return <Switch label={field.label} description={field.about} checked={value === "yes"} onChange={(e) => onChange(e.currentTarget.checked ? "yes" : "")} />;
    case "text":
      return field.offers ? <Offered {...common} type={field.offers} value={value} onChange={onChange} /> : <TextInput {...common} value={value} onChange={(e) => onChange(e.currentTarget.value)} spellCheck={false} autoComplete="off" />;
  }
}

interface OfferedProps {
  label: string;
  description: string | undefined;
  placeholder: string | undefined;
  required: boolean;
  error: string | undefined;
  type: NonNullable<Field["offers"]>;
  value: string;
  onChange: (value: string) => void;
}

/** A name that may be one of those that there are. */
function Offered({ type, ...rest }: OfferedProps) {
  const { tenant, fleet } = usePlace();
  const [prefix] = useDebouncedValue(rest.value, 300);
  const { data } = useQuery(namesQuery(tenant, fleet, type, prefix));
  return <Autocomplete {...rest} data={data ?? []} limit={20} spellCheck={false} autoComplete="off" />;
}
