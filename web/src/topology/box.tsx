// One box of the graph: a resource, or a group of them that opens.
import { ActionIcon, Group, Text, UnstyledButton } from "@mantine/core";
import { IconFocusCentered } from "@tabler/icons-react";
import { Handle, Position, useReactFlow, type Node, type NodeProps } from "@xyflow/react";
import { TextLink } from "../ui/link";
import type { Name } from "./graph";
import { boxHeight, boxWidth } from "./layout";
import { amount, groupWords, markColor, stateWords, typeWord } from "./words";

export interface BoxData extends Record<string, unknown> {
  fleet: string;
  names: readonly Name[];
  /** How many of them a search has found; undefined where nothing is searched. */
  found: number | undefined;
  focus: boolean;
  /** It takes the keyboard's focus when it comes: a group has been opened by it. */
  takesFocus: boolean;
  onOpen: () => void;
  onFocus: () => void;
}

export type BoxNode = Node<BoxData, "box">;

export function BoxView({ data, positionAbsoluteX, positionAbsoluteY }: NodeProps<BoxNode>) {
  const { setCenter, getZoom } = useReactFlow();
  const first = data.names[0];
  if (first === undefined) return null;
  // What the keyboard comes to is to be seen. The mouse is where it is already.
  const show = (e: React.FocusEvent) => {
    if (e.target.matches(":focus-visible")) void setCenter(positionAbsoluteX + boxWidth / 2, positionAbsoluteY + boxHeight / 2, { zoom: Math.max(getZoom(), 0.7) });
  };
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      {data.names.length === 1 ? <Single name={first} data={data} onFocusCapture={show} /> : <Many first={first} data={data} onFocusCapture={show} />}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  );
}

interface Part {
  data: BoxData;
  onFocusCapture: (e: React.FocusEvent) => void;
}

const foundWord = (found: number | undefined) => (found === undefined ? undefined : found > 0);

function Single({ name, data, onFocusCapture }: Part & { name: Name }) {
  const words = name.mark?.kind === "missing" ? groupWords.missing : stateWords(name);
  return (
    <div className="topology-box" data-state={name.mark?.kind ?? name.state} data-found={foundWord(data.found)} data-focus={data.focus} onFocusCapture={onFocusCapture}>
      <Group gap={4} wrap="nowrap" justify="space-between">
        <div style={{ minWidth: 0 }}>
          <Text component="div" className="topology-box-words" title={words} {...(name.mark ? { fw: 700 } : {})}>
            {typeWord(name.type)}
            {words !== "" && (
              <>
                {" · "}
                <Text span inherit c={name.mark ? `var(--mantine-color-${markColor[name.mark.kind]}-text)` : "dimmed"}>{words}</Text>
              </>
            )}
          </Text>
          <NameLink name={name} fleet={data.fleet} takesFocus={data.takesFocus} />
        </div>
        {!data.focus && (
          <ActionIcon className="nopan" variant="subtle" color="gray" size="sm" onClick={data.onFocus} title="Show only what is around it" aria-label={`Show only what is around ${typeWord(name.type)} ${name.name}`}>
            <IconFocusCentered size={14} />
          </ActionIcon>
        )}
      </Group>
    </div>
  );
}

function NameLink({ name, fleet, takesFocus }: { name: Name; fleet: string; takesFocus: boolean }) {
  const take = takesFocus ? (el: HTMLElement | null) => el?.focus({ preventScroll: true }) : undefined;
  const look = { className: "topology-box-name nopan", title: name.name };
  if (name.state === "bootstrap") return <span {...look}>{name.name}</span>;
  if (name.state === "missing") {
    return (
      <TextLink {...look} {...(take ? { ref: take } : {})} to="/fleets/$fleet/new" params={{ fleet }} search={{ type: name.type, name: name.name }} aria-label={`Create the ${typeWord(name.type)} ${name.name}`}>
        {name.name}
      </TextLink>
    );
  }
  return (
    <TextLink {...look} {...(take ? { ref: take } : {})} to="/fleets/$fleet/resources/$type/$name" params={{ fleet, type: name.type, name: name.name }}>
      {name.name}
    </TextLink>
  );
}

function Many({ first, data, onFocusCapture }: Part & { first: Name }) {
  const what = amount(data.names.length, first.type);
  const words = [first.mark ? groupWords[first.mark.kind] : first.state === "bootstrap" ? "in the bootstrap" : "", !data.found ? "" : `${data.found} found`].filter((w) => w !== "");
  return (
    <UnstyledButton className="topology-box nopan" data-many data-state={first.mark?.kind ?? first.state} data-found={foundWord(data.found)} onClick={data.onOpen} onFocusCapture={onFocusCapture} aria-expanded={false} title={data.names.slice(0, 20).map((n) => n.name).join("\n")}>
      <Text fw={600} size="sm">{what}</Text>
      <Text component="span" className="topology-box-words" {...(first.mark ? { c: `var(--mantine-color-${markColor[first.mark.kind]}-text)`, fw: 700 } : { c: "dimmed" })}>
        {[...words, "show each"].join(" · ")}
      </Text>
    </UnstyledButton>
  );
}
