// Header, navigation and the place for the view.
import { ActionIcon, Anchor, AppShell, Badge, Breadcrumbs, Burger, Button, Group, Stack, Text, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { IconMoon, IconSearch, IconSun } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { Outlet, useLocation, useParams } from "@tanstack/react-router";
import { Suspense, useEffect, useState } from "react";
import { follow, useLive, type Live as LiveSigns } from "../api/live";
import { useDraft } from "../draft/store";
import { later } from "../ui/later";
import { NavItem, TextLink } from "../ui/link";
import { clock } from "../ui/time";
import { Brand } from "./brand";
import { checkSession, useMe, useSession } from "./session";

// It comes when it is first asked for.
const Palette = later(() => import("./palette").then((m) => m.default));

export function Shell() {
  const [palette, setPalette] = useState(0);
  const openPalette = () => setPalette((n) => n + 1);
  useHotkeys([["mod+K", openPalette]], [], true); // in fields and in the editor too
  const me = useMe();
  const { fleet } = useParams({ strict: false });
  const [open, { toggle, close }] = useDisclosure(false);
  const path = useLocation({ select: (l) => l.pathname });
  useEffect(() => follow(me.tenant, fleet, checkSession), [me.tenant, fleet]);
  useEffect(close, [path, close]);

  return (
    <AppShell header={{ height: 56 }} navbar={{ width: 220, breakpoint: "sm", collapsed: { mobile: !open } }} padding="md">
      <a className="skip" href="#main">
        To the content
      </a>
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap" gap="sm">
          <Group gap="sm" wrap="nowrap" miw={0}>
            <Burger opened={open} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={open ? "Close the navigation" : "Open the navigation"} />
            <TextLink to="/" c="inherit" underline="never" aria-label="Fairlead, all fleets" visibleFrom="xs">
              <Brand />
            </TextLink>
            <Trail />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Live />
            <ActionIcon variant="subtle" color="gray" size="lg" title="Go to … (Ctrl K)" aria-label="Search and commands" onClick={openPalette}>
              <IconSearch size={18} />
            </ActionIcon>
            <Scheme />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" component="nav" aria-label={fleet === undefined ? "All of the tenant" : `Fleet ${fleet}`}>
        <AppShell.Section grow className="scroll">
          {fleet === undefined ? <TenantNav /> : <FleetNav fleet={fleet} />}
        </AppShell.Section>
        <AppShell.Section>
          <Account />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="main">
        <Outlet />
      </AppShell.Main>
      {palette > 0 && (
        <Suspense>
          <Palette asked={palette} />
        </Suspense>
      )}
    </AppShell>
  );
}

/** Where one is: the tenant, the fleet. On a phone too. */
function Trail() {
  const me = useMe();
  const { fleet } = useParams({ strict: false });
  return (
    <Breadcrumbs component="nav" aria-label="Where you are" separatorMargin={6} miw={0}>
      <TextLink to="/" size="sm" lh={1.5} truncate maw="9rem">
        {me.tenant ?? "operator"}
      </TextLink>
      {fleet !== undefined && (
        <TextLink to="/fleets/$fleet" params={{ fleet }} size="sm" lh={1.5} truncate maw="11rem">
          {fleet}
        </TextLink>
      )}
    </Breadcrumbs>
  );
}

const liveWords = {
  connecting: ["connecting", "gray", "Connecting to the event stream"],
  live: ["live", "teal", "What is on screen is told of every change"],
  polling: ["polling", "yellow", "There is no event stream at the moment: the page asks every few seconds"],
  offline: ["no answer", "red", "The server does not answer: what is on screen may be old"],
} as const;

/** What the sign in the header says. What is on screen is stale from the moment at which the server was heard last. */
function liveWord({ state, heard }: LiveSigns): string {
  if (state === "offline" && heard !== undefined) return `stale since ${clock(heard)}`;
  return liveWords[state][0];
}

function Live() {
  const signs = useLive();
  const { state } = signs;
  const [, color, title] = liveWords[state];
  return (
    <Badge variant="dot" color={color} role="status" title={title} {...(state === "live" ? { visibleFrom: "xs" } : {})}>
      {liveWord(signs)}
    </Badge>
  );
}

function Scheme() {
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme("light");
  const next = scheme === "dark" ? "light" : "dark";
  return (
    <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Use the ${next} colours`} onClick={() => setColorScheme(next)}>
      {scheme === "dark" ? <IconSun size={18} /> : <IconMoon size={18} />}
    </ActionIcon>
  );
}

function Account() {
  const { me, signOut } = useSession();
  const leaving = useMutation({ mutationFn: signOut });
  return (
    <Stack gap={4} p="xs" className="account">
      <Text size="sm" className="words">
        {me.name}
      </Text>
      <Text size="xs" c="dimmed">
        {me.kind === "operator" ? "operator" : `${me.role ?? ""} of ${me.tenant ?? ""}`}
      </Text>
      <Group gap="xs" justify="space-between" wrap="nowrap">
        <Anchor href="/docs" size="xs">
          API reference
        </Anchor>
        <Button variant="default" size="compact-xs" loading={leaving.isPending} onClick={() => leaving.mutate()}>
          Sign out
        </Button>
      </Group>
      {leaving.error && (
        <Text size="xs" c="red" role="alert" className="words">
          {leaving.error.message} You are still signed in.
        </Text>
      )}
    </Stack>
  );
}

function TenantNav() {
  const me = useMe();
  if (me.kind === "operator") return <NavItem className="nav-link" to="/operator" label="Tenants and servers" />;
  return (
    <>
      <NavItem className="nav-link" to="/" activeOptions={{ exact: true }} label="Fleets" />
      <NavItem className="nav-link" to="/audit" label="Audit" />
      <NavItem className="nav-link" to="/settings" label="Settings" />
    </>
  );
}

/** The pages of a fleet, in the order in which they stand in the navigation and the palette. */
export const fleetPages = [
  { to: "/fleets/$fleet", label: "Overview", exact: true },
  { to: "/fleets/$fleet/nodes", label: "Nodes", exact: false },
  { to: "/fleets/$fleet/resources", label: "Resources", exact: false },
  { to: "/fleets/$fleet/draft", label: "Draft", exact: false },
  { to: "/fleets/$fleet/history", label: "History", exact: false },
  { to: "/fleets/$fleet/findings", label: "Findings", exact: false },
  { to: "/fleets/$fleet/events", label: "Events", exact: false },
  { to: "/fleets/$fleet/topology", label: "Topology", exact: false },
  { to: "/fleets/$fleet/import", label: "Import", exact: false },
  { to: "/fleets/$fleet/promote", label: "Promote", exact: false },
  { to: "/fleets/$fleet/export", label: "Export", exact: false },
  { to: "/fleets/$fleet/connect", label: "Connect a node", exact: false },
  { to: "/fleets/$fleet/settings", label: "Settings", exact: false },
] as const;

function FleetNav({ fleet }: { fleet: string }) {
  const { author } = useSession();
  const draft = useDraft(author, fleet);
  return (
    <>
      {fleetPages.map((p) => (
        <NavItem
          key={p.to}
          className="nav-link"
          to={p.to}
          params={{ fleet }}
          activeOptions={{ exact: p.exact }}
          label={p.label}
          rightSection={p.label === "Draft" && draft.edits.length > 0 && <Badge size="sm" circle aria-label={`${draft.edits.length} edits`}>{draft.edits.length}</Badge>}
        />
      ))}
    </>
  );
}
