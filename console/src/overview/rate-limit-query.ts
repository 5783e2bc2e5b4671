import { queryOptions } from '@tanstack/react-query';
import type { AnimalStore, RateLimitStatus } from 'animal-store-client';

/** The request counts against no window, and has 60 a minute of its own. */
const POLL_MS = 5000;

/** The rate-limit status, with its times by the clock of this machine. */
export interface RateLimitNow extends RateLimitStatus {
  /** Milliseconds to add to a time of the service for the same moment by the clock of this machine. */
  clockOffsetMs: number;
}

/** Reads the status every 5 seconds, while the tab is visible. */
export const rateLimitQuery = (store: AnimalStore) =>
  queryOptions({
    queryKey: ['rate-limit'],
    queryFn: async ({ client, queryKey, signal }): Promise<RateLimitNow> => {
      const { data, headers } = await store.getRateLimit({ signal }).withResponse();
      // `Date` has whole seconds, so the smallest offset seen is the nearest.
      const before = client.getQueryData<RateLimitNow>(queryKey)?.clockOffsetMs ?? Infinity;
      return { ...data, clockOffsetMs: Math.min(before, clockOffsetMs(headers)) };
    },
    refetchInterval: POLL_MS,
    refetchOnWindowFocus: true,
    staleTime: 0,
  });

/** Returns how far the clock of this machine is ahead of the one that set the `Date` of a response just received. */
export function clockOffsetMs(headers: Headers): number {
  const sentAtMs = Date.parse(headers.get('Date') ?? '');
  return Number.isNaN(sentAtMs) ? 0 : Date.now() - sentAtMs;
}
