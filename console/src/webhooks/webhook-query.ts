import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { AnimalStore } from 'animal-store-client';

export const webhookQuery = (store: AnimalStore, id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'one', id],
    queryFn: ({ signal }) => store.admin.webhooks.get(id, { signal }),
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
