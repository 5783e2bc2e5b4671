import { queryOptions } from '@tanstack/react-query';
import type { AnimalStore } from 'animal-store-client';

/** The request counts against no window, and has 60 a minute of its own. */
const POLL_MS = 5000;

/** Reads the status every 5 seconds, while the tab is visible. */
export const rateLimitQuery = (store: AnimalStore) =>
  queryOptions({
    queryKey: ['rate-limit'],
    queryFn: ({ signal }) => store.rateLimit.get({ signal }),
    refetchInterval: POLL_MS,
    refetchOnWindowFocus: true,
    staleTime: 0,
  });
