import { queryOptions } from '@tanstack/react-query';
import type { AnimalStore, Plan } from 'animal-store-client';

/**
 * All plans, by name. They change rarely: not with a key, as the numbers of valid keys of the page of plans
 * do, which those who choose a plan do not see.
 */
export const plansQuery = (store: AnimalStore) =>
  queryOptions({
    queryKey: ['plan-choices'],
    queryFn: async ({ signal }) => {
      const plans: Plan[] = [];
      for await (const plan of store.admin.plans.list({ limit: 100 }, { signal })) {
        plans.push(plan);
      }
      return plans;
    },
    staleTime: 300_000,
  });
