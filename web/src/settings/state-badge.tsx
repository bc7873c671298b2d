import { Badge } from "@mantine/core";
import type { CredentialState } from "../api/client";
import { stateColor } from "./words";

export function StateBadge({ state }: { state: CredentialState }) {
  return (
    <Badge variant="light" color={stateColor[state]} tt="none" miw="max-content">
      {state}
    </Badge>
  );
}
