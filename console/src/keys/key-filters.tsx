import { Chip, Group, NativeSelect, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { TextLink } from '../layout/text-link';
import { useStore } from '../session/session';
import { FLAGS, isFiltered, SEARCH_MAX_LENGTH, SORTS, STATES, toFirstPage } from './keys-search';
import { plansQuery } from './plans-query';

/** Each search counts as a request. */
const SEARCH_DELAY_MS = 400;
const STATE_CHOICES = [
  { value: '', label: 'All states' },
  ...STATES.map((state) => ({ value: state, label: state.charAt(0).toUpperCase() + state.slice(1) })),
];
const route = getRouteApi('/admin/keys');

/** The filters and the order of the list of keys. */
export function KeyFilters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: plans = [] } = useQuery(plansQuery(useStore()));
  const names = new Set(plans.map(({ name }) => name)).add(search.plan ?? '');
  names.delete('');
  const change = (changes: Record<string, string | undefined>) =>
    void navigate({ search: toFirstPage(changes), replace: true, resetScroll: false });
  return (
    <>
      <Group gap="sm">
        <SearchInput value={search.search ?? ''} onChange={(text) => change({ search: text })} />
        <NativeSelect
          aria-label="Plan"
          // The field has the same width before the plans are there.
          w={150}
          value={search.plan ?? ''}
          onChange={({ currentTarget }) => change({ plan: currentTarget.value })}
          data={[{ value: '', label: 'All plans' }, ...names]}
        />
        <NativeSelect
          aria-label="State"
          value={search.state ?? ''}
          onChange={({ currentTarget }) => change({ state: currentTarget.value })}
          data={STATE_CHOICES}
        />
        <NativeSelect
          aria-label="Order"
          value={search.sort ?? SORTS[0].value}
          onChange={({ currentTarget: { value } }) =>
            change({ sort: value === SORTS[0].value ? undefined : value })
          }
          data={[...SORTS]}
        />
      </Group>
      <Group gap="xs">
        {FLAGS.map(({ name, label }) => (
          <Chip
            key={name}
            size="xs"
            variant="light"
            checked={search[name] !== undefined}
            onChange={(checked) => change({ [name]: checked ? 'yes' : undefined })}
          >
            {label}
          </Chip>
        ))}
        {isFiltered(search) && (
          <TextLink to="/admin/keys" size="sm" ml="xs">
            Clear filters
          </TextLink>
        )}
      </Group>
    </>
  );
}

function SearchInput({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const input = useRef<HTMLInputElement>(null);
  const change = useDebouncedCallback(onChange, SEARCH_DELAY_MS);
  // The address changes without the field too, such as when the filters are cleared.
  useEffect(() => {
    if (input.current !== null && input.current.value.trim() !== value) {
      input.current.value = value;
    }
  }, [value]);
  return (
    <TextInput
      ref={input}
      type="search"
      aria-label="Name, note, external ID, ID or last four"
      placeholder="Name, external ID, last four…"
      leftSection={<IconSearch size={16} aria-hidden />}
      defaultValue={value}
      onChange={({ currentTarget }) => change(currentTarget.value.trim())}
      maxLength={SEARCH_MAX_LENGTH}
      style={{ flex: '1 1 220px' }}
    />
  );
}
