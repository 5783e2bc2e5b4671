import { Anchor } from '@mantine/core';
import { IconFilterOff, IconPaw } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { Pet, PetStatus } from 'animal-store-client';
import { EmptyState } from '../feedback/empty-state';
import { type Column, DataTable } from '../table/data-table';
import type { CursorPages } from '../table/use-cursor-pages';
import { PET_FIELDS, type ShownField } from './pet-fields';

const { id: ID, ...OTHER_FIELDS } = PET_FIELDS;

const COLUMNS: Column<Pet>[] = [
  { id: 'id', header: ID.label, cell: ({ row }) => <IdLink id={String(row.original.id)} /> },
  ...Object.values<ShownField>(OTHER_FIELDS).map(({ label, show }): Column<Pet> => ({
    id: label,
    header: label,
    cell: ({ row }) => show(row.original, { lineClamp: 2, maw: 360 }),
  })),
];

interface AnimalsTableProps {
  pages: CursorPages<Pet>;
  /** Filters the list, if given. */
  status: PetStatus | undefined;
  onOpen: (pet: Pet) => unknown;
}

export function AnimalsTable({ pages, status, onOpen }: AnimalsTableProps) {
  const empty =
    status === undefined ? (
      <EmptyState icon={IconPaw} title="No animals yet">
        Every key of the store sees the animals here once the first one is added.
      </EmptyState>
    ) : (
      <EmptyState icon={IconFilterOff} title={`No animal is ${status}`}>
        Choose another status, or all, to see the other animals.
      </EmptyState>
    );
  return (
    <DataTable
      label="Animals"
      columns={COLUMNS}
      pages={pages}
      empty={empty}
      onRowClick={onOpen}
      minWidth={520}
    />
  );
}

/** The click also reaches the row, which would open the animal a second time. */
function IdLink({ id }: { id: string }) {
  return (
    <Anchor
      renderRoot={(props) => (
        <Link
          to="/animals"
          search={(now) => ({ ...now, animal: id })}
          state
          resetScroll={false}
          preload={false}
          {...props}
        />
      )}
      onClick={(event) => event.stopPropagation()}
      aria-label={`Open animal ${id}`}
      size="sm"
    >
      {id}
    </Anchor>
  );
}
