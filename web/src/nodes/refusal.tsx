import { Badge, Button, Collapse, Group, Skeleton, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import type { Node, Refusal } from "../api/client";
import { usePlace } from "../app/place";
import { Code } from "../code";
import { Ago } from "../ui/time";
import { Excerpt } from "./excerpt";
import { refusedQuery, whyQuery, type Text as Body } from "./queries";
import { RefLink, RevisionLink } from "./refs";
import { partOf, refText } from "./words";

interface Props {
  refusal: Refusal;
  /** The names that the same words are about. */
  others: readonly string[];
  node: Node;
  openAtFirst: boolean;
}

export function RefusalCard({ refusal: r, others, node, openAtFirst }: Props) {
  const { tenant, fleet } = usePlace();
  const [open, { toggle }] = useDisclosure(openAtFirst);
  const why = useQuery({ ...whyQuery(tenant, fleet, node.id, r), enabled: open && r.name !== "" });
  const variant = why.data?.resource.variant;
  const part = partOf(r.detail, r.name, others);
  return (
    <article className="refusal" aria-label={`Refused ${refText(r)}`}>
      <Group justify="space-between" gap="xs" mb={6}>
        <Group gap="xs">
          <Text fw={600} component="h3" size="md">
            <RefLink of={r} variant={variant} />
          </Text>
          {variant !== undefined && <Badge variant="default" tt="none">{`variant ${variant}`}</Badge>}
        </Group>
        <Group gap="sm">
          <Text size="sm" c="dimmed">
            <RevisionLink of={r.revision} />
            {", since "}
            <Ago at={r.at} />
          </Text>
          {r.name !== "" && (
            <Button variant="default" size="compact-xs" aria-expanded={open} aria-label={open ? `Fold ${refText(r)}` : `Show the line of ${refText(r)}`} onClick={toggle}>
              {open ? "Fold" : "Show the line"}
            </Button>
          )}
        </Group>
      </Group>
      {r.name !== "" && !open && (
        <Text size="sm" className="words refused-words" lineClamp={3}>
          {part}
        </Text>
      )}
      {r.name === "" && <Said words={r.detail} />}
      {r.name !== "" && open && (why.isPending ? <Skeleton h={200} /> : <RefusedBody refusal={r} variant={variant} others={others} part={part} />)}
      <What refusal={r} />
    </article>
  );
}

function Said({ words }: { words: string }) {
  return (
    <Text size="sm" className="words refused-words" mb="xs">
      {words}
    </Text>
  );
}

function What({ refusal: r }: { refusal: Refusal }) {
  return (
    <dl className="facts what">
      {r.action !== undefined && (
        <div>
          <dt>What was done</dt>
          <dd>{r.action}</dd>
        </div>
      )}
      {r.lifted_by !== undefined && (
        <div>
          <dt>What ends it</dt>
          <dd>{r.lifted_by}</dd>
        </div>
      )}
    </dl>
  );
}

function RefusedBody({ refusal: r, variant, others, part }: { refusal: Refusal; variant: string | undefined; others: readonly string[]; part: string }) {
  const { tenant, fleet } = usePlace();
  const body = useQuery(refusedQuery(tenant, fleet, { type: r.type, name: r.name, version: r.version, revision: r.revision, detail: r.detail, others, ...(variant === undefined ? {} : { variant }) }));
  const whole = part !== r.detail && <Whole words={r.detail} />;
  if (body.isPending) return <Skeleton h={200} />;
  if (!body.data?.place) {
    return (
      <Stack gap={4} mb="xs" align="flex-start">
        <Said words={part} />
        {whole}
        <Text size="sm" c="dimmed">
          {body.data?.secret ? "It is a secret, whose content is not shown." : "What it refused is not kept any more, so the line cannot be shown."}
        </Text>
      </Stack>
    );
  }
  return <AtLine name={refText(r)} body={body.data} place={body.data.place} words={part} whole={whole} />;
}

function AtLine({ name, body, place, words, whole }: { name: string; body: Body; place: NonNullable<Body["place"]>; words: string; whole: React.ReactNode }) {
  const [all, { toggle }] = useDisclosure(false);
  const found = place.by !== "name" && place.by !== "start";
  const guess = place.by === "likeness" ? "These words name no field. This line is the likeliest." : undefined;
  return (
    <Stack gap={6} mb="xs" align="stretch">
      {found ? <Excerpt label={`Line ${place.line} of ${name}`} text={body.text} place={place} words={words} /> : <Said words={words} />}
      {!found && (
        <Text size="sm" c="dimmed">
          These words name no line of it.
        </Text>
      )}
      {guess !== undefined && (
        <Text size="xs" c="dimmed">
          {guess}
        </Text>
      )}
      <Group gap="xs" align="flex-start">
        {whole}
        <Button variant="default" size="compact-xs" aria-expanded={all} onClick={toggle}>
          {all ? "Hide the whole resource" : "The whole resource"}
        </Button>
      </Group>
      {all && <Code label={`${name} as it was refused`} text={body.text} language="yaml" readOnly height={420} marks={found ? [{ from: place.from, to: place.to, severity: "error", message: words }] : []} />}
    </Stack>
  );
}

/** One answer can be about several resources. */
function Whole({ words }: { words: string }) {
  const [shown, { toggle }] = useDisclosure(false);
  return (
    <Stack gap={4} align="flex-start">
      <Button variant="default" size="compact-xs" aria-expanded={shown} onClick={toggle}>
        {shown ? "Hide the whole answer" : "The whole answer"}
      </Button>
      <Collapse expanded={shown}>
        <Text size="sm" className="words">
          {words}
        </Text>
      </Collapse>
    </Stack>
  );
}
