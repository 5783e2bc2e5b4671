import type { NewWebhook } from 'animal-store-client';

export type EventType = NewWebhook['events'][number];

/** Subscribes to all events. */
export const ALL = '*';

/** The types of events that a webhook can receive, in words. */
export const EVENTS: Record<EventType, string> = {
  [ALL]: 'All events, including those of later versions',
  'quota.day_limit_approaching': '80 % of a day’s limit is used',
  'quota.day_limit_reached': 'A day’s limit is used up',
  'quota.banned': 'A quota is banned',
  'key.expiring': 'A key expires in 14 days',
  'key.rotated': 'A key is rotated',
  'key.revoked': 'A key is revoked',
  'key.suspended': 'A key is suspended',
  'key.resumed': 'A key is resumed',
  'webhook.paused': 'Another webhook is paused',
  'key.deprecated_operation_called': 'A key calls an operation that will be removed within 30 days',
};

/** The type of test events. They are sent only once. */
export const TEST_EVENT = 'webhook.test';

const TEXTS: Record<string, string> = { ...EVENTS, [TEST_EVENT]: 'A test event' };

/** Returns an event in words, or its type if this console does not know it. */
export function eventText(type: string): string {
  return TEXTS[type] ?? type;
}
