import { queryOptions } from '@tanstack/react-query';
import type { AnimalStore, Plan } from 'animal-store-client';

/** All plans, by name. They change rarely. */
export const plansQuery = (store: AnimalStore) =>
  queryOptions({
    queryKey: ['plans', 'choices'],
    queryFn: async ({ signal }) => {
      const plans: Plan[] = [];
      for await (const plan of store.admin.plans.list({ limit: 100 }, { signal })) {
        plans.push(plan);
      }
      return plans;
    },
    staleTime: 300_000,
  });
