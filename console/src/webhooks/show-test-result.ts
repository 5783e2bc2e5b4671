import { notifications } from '@mantine/notifications';
import type { AnimalStore } from 'animal-store-client';

/** A replica finds the event within a second, and its attempt has 15 s. */
const POLLS_MAX = 18;
const POLL_MS = 1000;

/** Waits for the result of a test event, and shows it. It never rejects: the event is sent anyway. */
export async function showTestResult(store: AnimalStore, webhookId: string, id: string): Promise<void> {
  try {
    for (let polls = 0; polls < POLLS_MAX; polls += 1) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      const { state, responseStatus, lastFailure } = await store.admin.webhooks.delivery(webhookId, id);
      if (state === 'delivered') {
        const message = `The receiver responded ${responseStatus}.`;
        return void notifications.show({ color: 'forest', title: 'The test event was delivered', message });
      }
      if (state === 'failed') {
        const message = lastFailure;
        return void notifications.show({ color: 'red', title: 'The test event was not delivered', message });
      }
    }
  } catch {
    // Its result is in the list of deliveries.
  }
  const message = 'The deliveries of the webhook show it later.';
  notifications.show({ title: 'The test event has no result yet', message });
}
