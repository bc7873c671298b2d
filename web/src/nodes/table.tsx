// The table of nodes. Only the rows that are on screen are drawn, so that thousands scroll as a few do.
import { Table } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { memo, useState } from "react";
import type { Node } from "../api/client";
import { NodeBadge } from "../ui/state";
import { Ago } from "../ui/time";
import { NodeName } from "./row";
import { clientWords, settledWords, waitsWords, type Group } from "./words";

const columns = [
  { title: "Node", width: undefined },
  { title: "State", width: "7rem" },
  { title: "Revision", width: "10.5rem" },
  { title: "Client", width: "9rem" },
  { title: "Waits for", width: "13rem" },
  { title: "Since", width: "7.5rem" },
] as const;

interface Props {
  nodes: readonly Node[];
  newest: number | undefined;
  /** Words that stand above the table. */
  alike: readonly Group[];
}

export function NodeTable({ nodes, newest, alike }: Props) {
  const narrow = useMediaQuery("(max-width: 48em)", false, { getInitialValueInEffect: false });
  const [top, setTop] = useState(0);
  const gap = narrow ? 12 : 0; // below each card
  const virtual = useWindowVirtualizer({
    count: nodes.length,
    estimateSize: () => (narrow ? 190 : 43),
    measureElement: (row) => row.getBoundingClientRect().height + gap,
    getItemKey: (i) => nodes[i]?.id ?? i,
    overscan: 6,
    scrollMargin: top,
  });
  const rows = virtual.getVirtualItems();
  const before = (rows[0]?.start ?? top) - top;
  const after = virtual.getTotalSize() - ((rows.at(-1)?.end ?? top) - top);
  return (
    <Table className="cards node-table" aria-label="Nodes" aria-rowcount={nodes.length + 1} verticalSpacing="xs" highlightOnHover layout="fixed">
      <Table.Thead>
        <Table.Tr aria-rowindex={1}>
          {columns.map((c) => (
            <Table.Th key={c.title} scope="col" w={c.width}>
              {c.title}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      {/* What stands above may change its height with every answer. */}
      <Table.Tbody
        ref={(body) => {
          if (body) setTop(Math.round(body.getBoundingClientRect().top + window.scrollY));
        }}
      >
        <Gap height={before} />
        {rows.map((row) => {
          const node = nodes[row.index];
          return node && <Row key={row.key} index={row.index} node={node} newest={newest} alike={alike} measure={virtual.measureElement} />;
        })}
        <Gap height={after} />
      </Table.Tbody>
    </Table>
  );
}

function Gap({ height }: { height: number }) {
  return height > 0 && <tr className="gap" aria-hidden="true" style={{ height }} />;
}

interface RowProps extends Omit<Props, "nodes"> {
  node: Node;
  index: number;
  measure: (row: Element | null) => void;
}

const Row = memo(function Row({ node: n, index, newest, alike, measure }: RowProps) {
  return (
    <Table.Tr ref={measure} data-index={index} aria-rowindex={index + 2}>
      <Table.Td data-label="Node">
        <NodeName node={n} alike={alike} />
      </Table.Td>
      <Table.Td data-half data-label="State">
        <NodeBadge state={n.state} />
      </Table.Td>
      <Table.Td data-half data-label="Revision">{settledWords(n.settled, newest)}</Table.Td>
      <Table.Td data-half data-label="Client" className="words">
        {clientWords(n) || "–"}
      </Table.Td>
      <Table.Td data-half data-label="Waits for" className="words">
        {waitsWords(n.waits) || "–"}
      </Table.Td>
      <Table.Td data-label="Since" data-kind="short">
        <Ago at={n.since} />
      </Table.Td>
    </Table.Tr>
  );
});
