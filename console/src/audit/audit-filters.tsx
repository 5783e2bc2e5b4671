import { Button, NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useRef, useState } from 'react';
import { uuid } from '../address/search-reader';
import { ACTIONS } from '../audit-event/audit-texts';
import type { AuditSearch } from './audit-search';

/** Every change of a filter is a request, so typing waits for a pause. */
const PAUSE_MS = 500;

interface AuditFiltersProps {
  search: AuditSearch;
  onChange: (search: AuditSearch) => void;
}

/** The filters of the audit log. */
export function AuditFilters({ search, onChange }: AuditFiltersProps) {
  const first = useRef<HTMLSelectElement>(null);
  const [values, setValues] = useState(search);
  const apply = useDebouncedCallback(onChange, PAUSE_MS);
  const change = (name: keyof AuditSearch) => (event: { currentTarget: { value: string } }) => {
    const { [name]: _old, ...rest } = values;
    const { value } = event.currentTarget;
    const next = value === '' ? rest : { ...rest, [name]: value };
    setValues(next);
    apply(trimmed(next));
  };
  const field = (name: keyof AuditSearch) => ({ value: values[name] ?? '', onChange: change(name) });
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
        error={isPart(values.keyId) && 'Enter a complete key ID'}
        {...field('keyId')}
      />
      <TextInput
        label="Quota ID"
        placeholder="All"
        autoComplete="off"
        error={isPart(values.quotaId) && 'Enter a complete quota ID'}
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
      <Button
        variant="default"
        w="max-content"
        // The button keeps its place without a filter, so that nothing moves when it appears.
        style={{ visibility: Object.keys(values).length === 0 ? 'hidden' : 'visible' }}
        onClick={() => {
          apply.cancel();
          first.current?.focus();
          setValues({});
          onChange({});
        }}
      >
        Clear filters
      </Button>
    </SimpleGrid>
  );
}

/** Returns whether a text is given that is not a complete id. */
function isPart(text = ''): boolean {
  return text !== '' && uuid(text.trim()) === undefined;
}

function trimmed(search: AuditSearch): AuditSearch {
  return Object.fromEntries(
    Object.entries(search)
      .map(([name, value]) => [name, value.trim()] as const)
      .filter(([, value]) => value !== ''),
  );
}
