// Go anywhere by typing: Ctrl K.
import { Spotlight, spotlight, type SpotlightActionData } from "@mantine/spotlight";
import { IconSearch } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useEffect } from "react";
import type { FleetList } from "../api/client";
import { fleetPages } from "./shell";
import { useMe } from "./session";
import "@mantine/spotlight/styles.css";

export default function Palette({ asked }: { asked: number }) {
  const me = useMe();
  const navigate = useNavigate();
  const client = useQueryClient();
  const { fleet } = useParams({ strict: false });
  useEffect(() => {
    if (asked > 0) spotlight.open();
  }, [asked]);
  const actions: SpotlightActionData[] = [];
  if (fleet !== undefined) {
    for (const p of fleetPages) actions.push({ id: p.to, label: p.label, description: `Fleet ${fleet}`, onClick: () => void navigate({ to: p.to, params: { fleet } }) });
    actions.push({ id: "new", label: "New resource", description: `Fleet ${fleet}`, onClick: () => void navigate({ to: "/fleets/$fleet/new", params: { fleet } }) });
  }
  if (me.kind === "tenant") {
    actions.push({ id: "fleets", label: "All fleets", onClick: () => void navigate({ to: "/" }) });
    actions.push({ id: "settings", label: "Tokens and sessions", onClick: () => void navigate({ to: "/settings" }) });
    actions.push({ id: "audit", label: "Audit", onClick: () => void navigate({ to: "/audit" }) });
    for (const [, list] of client.getQueriesData<FleetList>({ queryKey: ["fleets"] })) {
      for (const f of list?.items ?? []) actions.push({ id: `fleet/${f.name}`, label: f.name, description: "Fleet", onClick: () => void navigate({ to: "/fleets/$fleet", params: { fleet: f.name } }) });
    }
  }
  return <Spotlight actions={actions} nothingFound="Nothing of that name" shortcut={null} limit={12} searchProps={{ leftSection: <IconSearch size={18} />, placeholder: "Go to …", "aria-label": "Go to" }} />;
}
