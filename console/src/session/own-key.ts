import { queryOptions, useQuery } from '@tanstack/react-query';
import type { AnimalStore } from 'animal-store-client';
import { useStore } from './session';

/**
 * The signed-in key. An administrator may change it meanwhile, so a page opened later reads it again. After a
 * failure only a retry does: most components use the key, and each one that mounts would send another
 * request.
 */
const ownKeyQuery = (store: AnimalStore) =>
  queryOptions({
    queryKey: ['own-key'],
    queryFn: ({ signal }) => store.key.get({ signal }),
    staleTime: 60_000,
    retryOnMount: false,
  });

export function useOwnKey() {
  return useQuery(ownKeyQuery(useStore()));
}
