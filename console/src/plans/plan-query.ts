import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { AnimalStore, Plan } from 'animal-store-client';
import { useStore } from '../session/session';

export const planQuery = (store: AnimalStore, name: string) =>
  queryOptions({
    queryKey: ['plans', 'plan', name],
    queryFn: ({ signal }) => store.admin.plans.get(name, { signal }),
  });

/**
 * The queries that a change of a plan affects: plans, the limits of keys and of the signed-in one, and the
 * audit.
 */
const TOUCHED = ['plans', 'plan-choices', 'keys', 'own-key', 'audit'];

/** Returns a function that shows the saved plan of a response, and reloads what the change affects. */
export function usePlanRefresh() {
  const store = useStore();
  const queryClient = useQueryClient();
  return (saved: Plan): void => {
    queryClient.setQueryData(planQuery(store, saved.name).queryKey, saved);
    for (const name of TOUCHED) {
      void queryClient.invalidateQueries({ queryKey: [name] });
    }
  };
}
