import { Table, type TableProps, type TableTdProps } from '@mantine/core';
import type { ReactNode, Ref } from 'react';

interface CardTableProps extends TableProps {
  /** Names the table for screen readers. */
  label: string;
  headers: { id: string; label: ReactNode; align?: 'left' | 'right' }[];
  /** The width in pixels below which the table scrolls, on a screen that is wider than a phone. */
  minWidth: number;
  maxHeight?: number;
  viewportRef?: Ref<HTMLDivElement>;
}

/**
 * A table whose rows are cards on a phone, by the style sheet. The roles keep it a table for screen
 * readers, because browsers derive roles from the display.
 */
export function CardTable(props: CardTableProps) {
  const { label, headers, minWidth, maxHeight, viewportRef, children, ...table } = props;
  return (
    <Table.ScrollContainer
      minWidth={minWidth}
      {...(maxHeight !== undefined && { maxHeight })}
      classNames={{ scrollContainerInner: 'cards-frame' }}
      scrollAreaProps={{
        // The bar shows that the table has more columns.
        type: 'auto',
        offsetScrollbars: 'present',
        viewportProps: { tabIndex: 0, role: 'region', 'aria-label': label },
        ...(viewportRef !== undefined && { viewportRef }),
      }}
    >
      <Table className="cards" role="table" aria-label={label} {...table}>
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {headers.map(({ id, label: text, align = 'left' }) => (
              <Table.Th
                key={id}
                role="columnheader"
                scope="col"
                bg="var(--console-panel)"
                fw={550}
                c="dimmed"
                fz="sm"
                ta={align}
                data-column={id}
                style={{ whiteSpace: 'nowrap' }}
              >
                {text}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

interface CardCellProps extends TableTdProps {
  /** The name of its column, which a card shows beside it; without one, the cell is as wide as the card. */
  label?: string | undefined;
}

/** A cell of a `CardTable`. */
export function CardCell({ label, children, ...cell }: CardCellProps) {
  return (
    <Table.Td role="cell" data-label={label} {...cell}>
      <div className="cell">{children}</div>
    </Table.Td>
  );
}
