import type { NewWebhook } from 'animal-store-client';

export type EventType = NewWebhook['events'][number];

/** The types of events that a webhook can receive, in words. */
export const EVENTS: Record<EventType, string> = {
  'quota.day_limit_80': '80 % of a day’s limit is used',
  'quota.day_limit_reached': 'A day’s limit is used up',
  'quota.banned': 'A key is banned',
  'key.expiring': 'A key expires in 14 days',
  'key.rotated': 'A key is rotated',
  'key.revoked': 'A key is revoked',
  'operation.deprecated_called': 'An operation is called that is removed within 30 days',
};

const TEXTS: Record<string, string> = { ...EVENTS, 'webhook.test': 'A test event' };

/** Returns an event in words, or its type if this console does not know it. */
export function eventText(type: string): string {
  return TEXTS[type] ?? type;
}
