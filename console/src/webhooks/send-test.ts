import { notifications } from '@mantine/notifications';
import type { AnimalStore } from 'animal-store-client';

/** A replica finds the event within a second, and its attempt has 15 s. */
const POLLS_MAX = 18;
const POLL_MS = 1000;

/** Sends a test event, waits for the result, and shows it. */
export async function sendTest(store: AnimalStore, webhookId: string): Promise<void> {
  const { id } = await store.admin.webhooks.test(webhookId);
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
  notifications.show({ title: 'The test event has no result yet', message: 'Its delivery stays pending.' });
}
