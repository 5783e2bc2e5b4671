import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorNotice } from './error-notice';
import { StaleNotice } from './stale-notice';

interface LoadedProps<Data> {
  query: UseQueryResult<Data>;
  /** Shown until the data has loaded. */
  skeleton: ReactNode;
  children: (data: Data) => ReactNode;
}

/**
 * Shows what a query has loaded, or why it could not. What it loaded before stays, beside a notice that it is
 * not up to date.
 */
export function Loaded<Data>({ query, skeleton, children }: LoadedProps<Data>) {
  const { data, error, errorUpdatedAt, refetch } = query;
  if (data === undefined) {
    return error === null ? skeleton : <ErrorNotice error={error} at={errorUpdatedAt} retry={refetch} />;
  }
  return (
    <>
      {error !== null && <StaleNotice error={error} at={errorUpdatedAt} retry={refetch} />}
      {children(data)}
    </>
  );
}
