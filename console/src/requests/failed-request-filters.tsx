import { NativeSelect, TextInput } from '@mantine/core';
import { REQUEST_ID_MAX_LENGTH } from '../../../src/usage/rules/request-id';
import { ListFilters } from '../form/list-filters';
import { useFilters } from '../form/use-filters';
import { EXTERNAL_ID_MAX_LENGTH } from '../keys/keys-search';
import { CODES, type FailedRequestsSearch, readFilters, STATUSES } from './failed-requests-search';

interface FailedRequestFiltersProps {
  search: FailedRequestsSearch;
  onChange: (search: FailedRequestsSearch) => void;
  /** Whether the list has the requests of all quotas. */
  isOfAll: boolean;
}

/** The filters of the list of failed requests. */
export function FailedRequestFilters({ search, onChange, isOfAll }: FailedRequestFiltersProps) {
  const filters = useFilters(search, onChange, readFilters);
  const { field } = filters;
  return (
    <ListFilters filters={filters} columns={3} hasIds={isOfAll}>
      <TextInput
        label="Request ID"
        placeholder="All"
        autoComplete="off"
        maxLength={REQUEST_ID_MAX_LENGTH}
        {...field('requestId')}
      />
      <NativeSelect label="Status" data={[ALL, ...STATUSES]} {...field('status')} />
      <NativeSelect label="Code" data={[ALL, ...CODES]} {...field('code')} />
      {isOfAll && (
        <TextInput
          label="External ID"
          placeholder="All"
          autoComplete="off"
          maxLength={EXTERNAL_ID_MAX_LENGTH}
          {...field('externalId')}
        />
      )}
    </ListFilters>
  );
}

const ALL = { value: '', label: 'All' };
