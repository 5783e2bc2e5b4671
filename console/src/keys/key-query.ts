import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { AnimalStore, Key } from 'animal-store-client';
import { serviceNowMs } from '../session/service-clock';
import { useStore } from '../session/session';

/** The largest page: the valid keys of a quota, and the last of those that no longer are. */
const SIBLINGS_MAX = 100;
const AUDIT_LATEST = 10;
const FAILURES_LATEST = 5;
/** Delays a request after the end of a window, so that the service is past it too. */
const WINDOW_END_MARGIN_MS = 250;
const MINUTE_MS = 60_000;

export const keyQuery = (store: AnimalStore, id: string) =>
  queryOptions({
    queryKey: ['keys', 'one', id],
    queryFn: ({ signal }) => store.admin.keys.get(id, { signal }),
  });

/** The keys on a quota, those that are valid first, each newest first. */
export const quotaKeysQuery = (store: AnimalStore, quotaId: string) =>
  queryOptions({
    queryKey: ['keys', 'quota', quotaId],
    queryFn: async ({ signal }) => {
      const query = { quotaId, sort: 'state', limit: SIBLINGS_MAX } as const;
      return (await store.admin.keys.list(query, { signal })).items;
    },
  });

/** The last entries of the audit on a key and its quota. */
export const keyAuditQuery = (store: AnimalStore, { id, quotaId }: Pick<Key, 'id' | 'quotaId'>) =>
  queryOptions({
    queryKey: ['keys', 'audit', id],
    queryFn: async ({ signal }) =>
      (await store.admin.audit.list({ keyId: id, quotaId, limit: AUDIT_LATEST }, { signal })).items,
  });

/** The last failed requests with a key. */
export const keyFailuresQuery = (store: AnimalStore, id: string) =>
  queryOptions({
    queryKey: ['keys', 'failures', id],
    queryFn: async ({ signal }) =>
      (await store.admin.requests.list({ keyId: id, limit: FAILURES_LATEST }, { signal })).items,
  });

/** The windows and the ban of a quota, read again when the minute ends, or less often. */
export const quotaRateLimitQuery = (store: AnimalStore, quotaId: string, pollMs: number) =>
  queryOptions({
    queryKey: ['keys', 'rate-limit', quotaId],
    queryFn: ({ signal }) => store.admin.quotas.rateLimit(quotaId, { signal }),
    refetchInterval: () => (pollMs > MINUTE_MS ? pollMs : untilMinuteEndMs()),
    staleTime: 0,
  });

/** The queries that a change of a key affects: keys, limits, audit, bans, and the signed-in key. */
const TOUCHED = ['keys', 'plans', 'audit', 'traffic', 'own-key'];

/**
 * Returns a function that reloads what a change of a key affects. Until then, the pages show the key from the
 * response.
 */
export function useKeyRefresh() {
  const store = useStore();
  const queryClient = useQueryClient();
  return (changed?: Key): void => {
    if (changed !== undefined) {
      queryClient.setQueryData(keyQuery(store, changed.id).queryKey, (key) => key && { ...key, ...changed });
    }
    for (const name of TOUCHED) {
      void queryClient.invalidateQueries({ queryKey: [name] });
    }
  };
}

function untilMinuteEndMs(): number {
  return MINUTE_MS - (serviceNowMs() % MINUTE_MS) + WINDOW_END_MARGIN_MS;
}
