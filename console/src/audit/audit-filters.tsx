import { NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { useRef } from 'react';
import { ACTIONS } from '../audit-event/audit-texts';
import { ClearFilters } from '../form/clear-filters';
import { isPartOfId, useFilters } from '../form/use-filters';
import { type AuditSearch, readFilters } from './audit-search';

interface AuditFiltersProps {
  search: AuditSearch;
  onChange: (search: AuditSearch) => void;
}

/** The filters of the audit log. */
export function AuditFilters({ search, onChange }: AuditFiltersProps) {
  const first = useRef<HTMLSelectElement>(null);
  const { values, isEmpty, field, clear } = useFilters(search, onChange, readFilters);
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm" mb="lg" style={{ alignItems: 'end' }}>
      <NativeSelect
        ref={first}
        label="Action"
        data={[
          { value: '', label: 'All' },
          ...Object.entries(ACTIONS).map(([value, label]) => ({ value, label })),
        ]}
        {...field('action')}
      />
      <TextInput
        label="Key ID"
        placeholder="All"
        autoComplete="off"
        error={isPartOfId(values.keyId) && 'Enter a complete key ID'}
        {...field('keyId')}
      />
      <TextInput
        label="Quota ID"
        placeholder="All"
        autoComplete="off"
        error={isPartOfId(values.quotaId) && 'Enter a complete quota ID'}
        {...field('quotaId')}
      />
      <TextInput
        label="Actor"
        placeholder="Key ID, or name at the terminal"
        autoComplete="off"
        {...field('actor')}
      />
      <TextInput label="From" type="datetime-local" {...field('since')} />
      <TextInput label="Until" type="datetime-local" {...field('until')} />
      <ClearFilters
        isEmpty={isEmpty}
        onClear={() => {
          first.current?.focus();
          clear();
        }}
      />
    </SimpleGrid>
  );
}
