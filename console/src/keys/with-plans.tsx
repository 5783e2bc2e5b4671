import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Plan } from 'animal-store-client';
import type { ReactNode } from 'react';
import { Loaded } from '../feedback/loaded';
import { useStore } from '../session/session';
import { plansQuery } from './plans-query';

/** Mounts a form once the plans are there: a select whose options come later shows the first of them. */
export function WithPlans({ children }: { children: (plans: Plan[]) => ReactNode }) {
  const query = useQuery(plansQuery(useStore()));
  return (
    <Loaded query={query} skeleton={<Skeleton height={320} radius="md" />}>
      {children}
    </Loaded>
  );
}
