import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { AnimalStore, Webhook } from 'animal-store-client';
import { useStore } from '../session/session';

export const webhookQuery = (store: AnimalStore, id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'one', id],
    queryFn: ({ signal }) => store.admin.webhooks.get(id, { signal }),
  });

/** Returns a function that reloads webhooks and the audit. Until then, the pages show the webhook from the response. */
export function useWebhookRefresh() {
  const store = useStore();
  const queryClient = useQueryClient();
  return (changed?: Webhook): void => {
    if (changed !== undefined) {
      queryClient.setQueryData(
        webhookQuery(store, changed.id).queryKey,
        (webhook) => webhook && { ...webhook, ...changed },
      );
    }
    for (const name of ['webhooks', 'audit']) {
      void queryClient.invalidateQueries({ queryKey: [name] });
    }
  };
}
