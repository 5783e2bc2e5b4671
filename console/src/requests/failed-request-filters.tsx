import { NativeSelect, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useRef } from 'react';
import { ClearFilters } from '../form/clear-filters';
import { isPartOfId, useFilters } from '../form/use-filters';
import { EXTERNAL_ID_MAX_LENGTH } from '../keys/keys-search';
import {
  CODES,
  type FailedRequestsSearch,
  readFilters,
  REQUEST_ID_MAX_LENGTH,
  STATUSES,
} from './failed-requests-search';

interface FailedRequestFiltersProps {
  search: FailedRequestsSearch;
  onChange: (search: FailedRequestsSearch) => void;
  /** Whether the list has the requests of all quotas. */
  isOfAll: boolean;
}

/** The filters of the list of failed requests. */
export function FailedRequestFilters({ search, onChange, isOfAll }: FailedRequestFiltersProps) {
  const first = useRef<HTMLInputElement>(null);
  const { values, isEmpty, field, clear } = useFilters(search, onChange, readFilters);
  return (
    <Stack gap="sm" mb="lg">
      <SimpleGrid cols={{ base: 2, md: 3 }} spacing="sm" style={{ alignItems: 'end' }}>
        <TextInput
          ref={first}
          label="Request ID"
          placeholder="All"
          autoComplete="off"
          maxLength={REQUEST_ID_MAX_LENGTH}
          {...field('requestId')}
        />
        <NativeSelect label="Status" data={[ALL, ...STATUSES]} {...field('status')} />
        <NativeSelect label="Code" data={[ALL, ...CODES]} {...field('code')} />
        {isOfAll && (
          <>
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
              label="External ID"
              placeholder="All"
              autoComplete="off"
              maxLength={EXTERNAL_ID_MAX_LENGTH}
              {...field('externalId')}
            />
          </>
        )}
      </SimpleGrid>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm" style={{ alignItems: 'end' }}>
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
    </Stack>
  );
}

const ALL = { value: '', label: 'All' };
