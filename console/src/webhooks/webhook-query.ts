import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { type AnimalStore, NotFoundError } from 'animal-store-client';

/** Loads a webhook; null if there is none with this id. */
export const webhookQuery = (store: AnimalStore, id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'one', id],
    queryFn: async ({ signal }) => {
      try {
        return await store.admin.webhooks.get(id, { signal });
      } catch (error) {
        if (error instanceof NotFoundError) {
          return null;
        }
        throw error;
      }
    },
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
