import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { AnimalStore } from 'animal-store-client';

/** Loads a webhook; null if there is none with this id. */
export const webhookQuery = (store: AnimalStore, id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'one', id],
    queryFn: async ({ signal }) =>
      (await store.admin.webhooks.list({ signal })).find((webhook) => webhook.id === id) ?? null,
  });

/** Returns a function that reloads webhooks and the audit. */
export function useWebhookRefresh() {
  const queryClient = useQueryClient();
  return (): void => {
    for (const name of ['webhooks', 'audit']) {
      void queryClient.invalidateQueries({ queryKey: [name] });
    }
  };
}
