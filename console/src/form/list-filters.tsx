import { SimpleGrid, Stack, TextInput } from '@mantine/core';
import { type ReactNode, useRef } from 'react';
import { ClearFilters } from './clear-filters';
import { isPartOfId, type useFilters } from './use-filters';

type SharedName = 'keyId' | 'quotaId' | 'since' | 'until';

interface ListFiltersProps {
  filters: ReturnType<typeof useFilters<SharedName>>;
  /** The number of fields in the first row on a wide screen: the children, and two with ids. */
  columns: number;
  /** Whether the list can be limited to a key and a quota. */
  hasIds?: boolean;
  /** The fields that only this list has. They come first. */
  children: ReactNode;
}

/** The filters of a list, with those that lists share: a key, a quota and a range of time. */
export function ListFilters({ filters, columns, hasIds = true, children }: ListFiltersProps) {
  const { isEmpty, clear, field } = filters;
  const fields = useRef<HTMLDivElement>(null);
  const idField = (name: 'keyId' | 'quotaId', what: string) => (
    <TextInput
      label={`${what} ID`}
      placeholder="All"
      autoComplete="off"
      error={isPartOfId(filters.values[name]) && `Enter a complete ${what.toLowerCase()} ID`}
      {...field(name)}
    />
  );
  return (
    <Stack gap="sm" mb="lg" ref={fields}>
      <SimpleGrid cols={{ base: 2, md: columns }} spacing="sm">
        {children}
        {hasIds && idField('keyId', 'Key')}
        {hasIds && idField('quotaId', 'Quota')}
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm" style={{ alignItems: 'end' }}>
        <TextInput label="From" type="datetime-local" {...field('since')} />
        <TextInput label="Until" type="datetime-local" {...field('until')} />
        <ClearFilters
          isEmpty={isEmpty}
          onClear={() => {
            fields.current?.querySelector<HTMLElement>('input, select')?.focus();
            clear();
          }}
        />
      </SimpleGrid>
    </Stack>
  );
}
