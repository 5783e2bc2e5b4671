import { queryOptions, useQuery } from '@tanstack/react-query';
import type { AnimalStore } from 'animal-store-client';
import { useStore } from './session';

/** The signed-in key. Read once: a change of plan or role shows after signing in again, or when a page refreshes it. */
export const ownKeyQuery = (store: AnimalStore) =>
  queryOptions({
    queryKey: ['own-key'],
    queryFn: ({ signal }) => store.getOwnKey({ signal }),
    staleTime: Infinity,
  });

export function useOwnKey() {
  return useQuery(ownKeyQuery(useStore()));
}
