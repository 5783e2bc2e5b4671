import { queryOptions } from '@tanstack/react-query';
import type { AnimalStore } from 'animal-store-client';

/** The plans, by name. They change rarely. */
export const plansQuery = (store: AnimalStore) =>
  queryOptions({
    queryKey: ['plans', 'choices'],
    queryFn: async ({ signal }) => (await store.admin.plans.list({ limit: 100 }, { signal })).items,
    staleTime: 300_000,
  });
