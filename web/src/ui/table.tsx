// A table that becomes a stack of cards on a phone: each cell then stands below its heading.
import { Table } from "@mantine/core";
import type { ReactNode } from "react";

export interface Column<T> {
  title: string;
  cell: (row: T) => ReactNode;
  /** Numbers and times do not break, and stand to the right. */
  kind?: "number" | "short";
  /** On a phone it shares its line with another; so do those of a kind. */
  half?: boolean;
  /** Left out on a phone. */
  wide?: boolean;
}

interface Props<T> {
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
}

export function DataTable<T>({ label, columns, rows, keyOf }: Props<T>) {
  return (
    <Table className="cards" aria-label={label} verticalSpacing="xs" highlightOnHover>
      <Table.Thead>
        <Table.Tr>
          {columns.map((c) => (
            <Table.Th key={c.title} scope="col" data-kind={c.kind}>
              {c.title}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={keyOf(row)}>
            {columns.map((c) => (
              <Table.Td key={c.title} data-label={c.title} data-kind={c.kind} data-half={c.half || undefined} data-wide={c.wide}>
                {c.cell(row)}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
