/** The types of events that a webhook can receive. */
export const EVENT_TYPES = [
  'quota.day_limit_80',
  'quota.day_limit_reached',
  'quota.banned',
  'key.expiring',
  'key.rotated',
  'key.revoked',
  'operation.deprecated_called',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** The type of the event that an administrator sends to one webhook, whatever its events. */
export const TEST_EVENT = 'webhook.test';
