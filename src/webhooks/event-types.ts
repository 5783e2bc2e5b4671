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
