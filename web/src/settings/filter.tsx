// Fields of filters: what is typed goes to the address at Enter or when the field is left.
import { NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import type { CredentialState } from "../api/client";

interface Props {
  label: string;
  value: string | undefined;
  set: (value: string | undefined) => void;
  placeholder?: string;
}

export function FilterText(props: Props) {
  return <Field key={props.value ?? ""} {...props} />;
}

function Field({ label, value = "", set, placeholder }: Props) {
  const [text, setText] = useState(value);
  const done = () => {
    const word = text.trim();
    if (word !== value) set(word === "" ? undefined : word);
  };
  return (
    <TextInput
      label={label}
      value={text}
      {...(placeholder === undefined ? {} : { placeholder })}
      flex="1 1 10rem"
      onChange={(e) => setText(e.currentTarget.value)}
      onBlur={done}
      onKeyDown={(e) => {
        if (e.key === "Enter") done();
      }}
    />
  );
}

/** Which tokens or credentials are shown. */
export function StateFilter({ label, value, set }: { label: string; value: CredentialState | "all"; set: (v: string | undefined) => void }) {
  return (
    <NativeSelect
      label={label}
      value={value}
      data={[
        { value: "active", label: "Active" },
        { value: "expired", label: "Expired" },
        { value: "revoked", label: "Revoked" },
        { value: "all", label: "All" },
      ]}
      onChange={(e) => set(e.currentTarget.value === "active" ? undefined : e.currentTarget.value)}
    />
  );
}
