import { z } from 'zod';
import { openEnum } from '../schemas/open-enum.js';
import { PLAN_NAME_MAX_LENGTH } from '../rate-limit/rules/plan-name.js';
import { dateTime, KEY_NAME_MAX_LENGTH, plainText, uuid } from '../schemas/text-schemas.js';
import { OPERATION_MAX_LENGTH, shownExternalId } from '../usage/usage.schemas.js';

/** What every event on a key says of it. */
const ofKey = {
  keyId: uuid('Identifier of the key.'),
  keyName: plainText('Name of the key.', KEY_NAME_MAX_LENGTH),
  quotaId: uuid('Identifier of the quota of the key.'),
  externalId: shownExternalId,
};

/** What every event on a quota says of it. */
const ofQuota = {
  quotaId: uuid('Identifier of the quota.'),
  externalId: shownExternalId,
  plan: plainText('Name of its plan.', PLAN_NAME_MAX_LENGTH),
};

const ofDayLimit = {
  ...ofQuota,
  limit: z.int().min(0).meta({ description: 'The limit of requests per UTC day.' }),
  used: z.int().min(0).meta({ description: 'Requests that were counted in the day.' }),
  thresholdPercent: z
    .int32()
    .min(0)
    .max(100)
    .meta({ description: 'The share of the limit that was reached.' }),
};

/** Why a webhook is paused: an administrator did it, it responded 410, or no delivery succeeded for days. */
export const PAUSE_REASONS = ['administrator', 'gone', 'failing'] as const;
export type PauseReason = (typeof PAUSE_REASONS)[number];

/** Declares an event: when it occurs, in a sentence, and the fields of its data. */
const event = <Fields extends z.ZodRawShape>(description: string, fields: Fields) => ({
  description,
  data: z.object(fields),
});

export const EVENTS = {
  'quota.day_limit_approaching': event(
    '80 % of the requests that a quota has for a UTC day were counted. Sent once for each quota and day.',
    ofDayLimit,
  ),
  'quota.day_limit_reached': event(
    'All requests that a quota has for a UTC day were counted. Sent once for each quota and day.',
    ofDayLimit,
  ),
  'quota.banned': event('A quota was banned. Sent once for each ban.', {
    ...ofQuota,
    bannedUntil: dateTime('When the ban ends.'),
  }),
  'key.expiring': event(
    'A key without a successor expires within 14 days. Sent once for each key and expiry.',
    {
      ...ofKey,
      expiresAt: dateTime('When the key expires.'),
    },
  ),
  'key.rotated': event('A successor of a key was issued.', {
    ...ofKey,
    expiresAt: dateTime('Until when the old key works.'),
    successorId: uuid('Identifier of the successor.'),
  }),
  'key.revoked': event('A key was revoked.', {
    ...ofKey,
    revokedAt: dateTime('When it was revoked.'),
  }),
  'key.suspended': event('A key was suspended: requests with it get 401 until it is resumed.', {
    ...ofKey,
    suspendedAt: dateTime('When it was suspended.'),
  }),
  'key.resumed': event('A suspended key was resumed.', {
    ...ofKey,
    resumedAt: dateTime('When it was resumed.'),
  }),
  'key.deprecated_operation_called': event(
    'An operation that is removed within 30 days was called. Sent once for each key, operation and UTC day.',
    {
      ...ofKey,
      operation: plainText('The `operationId` of the operation.', OPERATION_MAX_LENGTH),
      sunsetAt: dateTime('When the operation is removed.'),
    },
  ),
  'webhook.paused': event(
    'A webhook was paused. Sent to the other webhooks that are not limited to a quota.',
    {
      webhookId: uuid('Identifier of the webhook.'),
      pausedAt: dateTime('When it was paused.'),
      pauseReason: openEnum(PAUSE_REASONS).meta({ description: 'Why, as the webhook has it.' }),
    },
  ),
  'webhook.test': event('An administrator sent a test event to this webhook alone.', {
    webhookId: uuid('Identifier of the webhook.'),
  }),
};

export type EventType = keyof typeof EVENTS;
export type EventData<Type extends EventType> = z.infer<(typeof EVENTS)[Type]['data']>;
/** The data of an event on a key, without what every such event has. */
export type KeyEventFacts<Type extends EventType> = Omit<EventData<Type>, keyof typeof ofKey>;

const EVENT_TYPES = Object.keys(EVENTS) as EventType[];
/** The type of the event that an administrator sends to one webhook, whatever its events. */
export const TEST_EVENT = 'webhook.test';
/** Stands for every type, including those of later versions. */
export const ALL_EVENTS = '*';
export const SUBSCRIPTIONS = [...EVENT_TYPES.filter((type) => type !== TEST_EVENT), ALL_EVENTS] as const;

/** The bodies of deliveries, with the names by which the documents refer to their schemas. */
export const PAYLOADS = EVENT_TYPES.map((type) => {
  const { description, data } = EVENTS[type];
  const words = type.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const name = `${words.join('')}Event`;
  const schema = z
    .object({
      type: z.literal(type).meta({ description: 'The type of the event.' }),
      timestamp: dateTime('When the service noticed the event.'),
      data: data.meta({ description: 'What happened. Later versions may add fields.' }),
    })
    .meta({ id: name, description });
  return { type, description, name, schema };
});
