import { NativeSelect, TextInput } from '@mantine/core';
import { ACTIONS } from '../audit-event/audit-texts';
import { ListFilters } from '../form/list-filters';
import { useFilters } from '../form/use-filters';
import { type AuditSearch, readFilters } from './audit-search';

interface AuditFiltersProps {
  search: AuditSearch;
  onChange: (search: AuditSearch) => void;
}

/** The filters of the audit log. */
export function AuditFilters({ search, onChange }: AuditFiltersProps) {
  const filters = useFilters(search, onChange, readFilters);
  return (
    <ListFilters filters={filters} columns={4}>
      <NativeSelect
        label="Action"
        data={[
          { value: '', label: 'All' },
          ...Object.entries(ACTIONS).map(([value, label]) => ({ value, label })),
        ]}
        {...filters.field('action')}
      />
      <TextInput label="Actor" placeholder="Key ID or name" autoComplete="off" {...filters.field('actor')} />
    </ListFilters>
  );
}
