import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Plan } from 'animal-store-client';
import type { ReactNode } from 'react';
import { ErrorNotice } from '../feedback/error-notice';
import { useStore } from '../session/session';
import { plansQuery } from './plans-query';

/** Mounts a form once the plans are there: a select whose options come later shows the first of them. */
export function WithPlans({ children }: { children: (plans: Plan[]) => ReactNode }) {
  const { data, error, errorUpdatedAt, refetch } = useQuery(plansQuery(useStore()));
  if (data !== undefined) {
    return children(data);
  }
  return error === null ? (
    <Skeleton height={320} radius="md" />
  ) : (
    <ErrorNotice key={errorUpdatedAt} error={error} retry={refetch} />
  );
}
