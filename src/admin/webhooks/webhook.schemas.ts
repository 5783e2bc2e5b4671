import { z } from 'zod';
import { int32 } from '../../schemas/int32.js';
import { cursorParameter, limitParameter, once } from '../../schemas/pagination.js';
import { dateTime, plainText, uuid } from '../../schemas/text-schemas.js';
import { isUuid } from '../../schemas/uuid.js';
import { EVENT_TYPES, TEST_EVENT } from '../../webhooks/event-types.js';
import { OVERLAP_MAX_SECONDS } from '../keys/key.schemas.js';

const URL_MAX_LENGTH = 2048;
const URL_MESSAGE = `must be an http(s) address without credentials and fragment, of at most ${URL_MAX_LENGTH} characters`;
const EVENTS_MESSAGE = `must be a list of one or more of ${EVENT_TYPES.join(', ')}`;
const SECRET_MAX_LENGTH = 100;
const FAILURE_MAX_LENGTH = 1000;
const EVENT_MAX_LENGTH = 64;
const BODY_MESSAGE = { error: 'the body must be a JSON object' };
export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
const SEPARATOR = '|';

/** The address of a receiver, in the form of the URL standard. */
export const webhookUrl = z
  .string({ error: ({ input }) => (input === undefined ? 'is required' : URL_MESSAGE) })
  .max(URL_MAX_LENGTH, URL_MESSAGE)
  .refine(isReceiverUrl, URL_MESSAGE)
  .transform((text) => new URL(text).href)
  .meta({
    description: 'The http(s) address that gets the events.',
    format: 'uri',
    maxLength: URL_MAX_LENGTH,
  });

export const webhookEvents = z
  .array(z.enum(EVENT_TYPES, EVENTS_MESSAGE), {
    error: ({ input }) => (input === undefined ? 'is required' : EVENTS_MESSAGE),
  })
  .min(1, EVENTS_MESSAGE)
  .max(EVENT_TYPES.length, EVENTS_MESSAGE)
  .transform((events) => [...new Set(events)])
  .meta({ description: 'The types of the events that it receives.' });

export const CreateWebhookInput = z.object({ url: webhookUrl, events: webhookEvents }, BODY_MESSAGE).meta({
  id: 'NewWebhook',
  description: 'A new webhook.',
  examples: [{ url: 'https://ops.example/animal-store', events: ['quota.banned', 'key.expiring'] }],
});
export type CreateWebhookInput = z.infer<typeof CreateWebhookInput>;

export const ChangeWebhookInput = z
  .object(
    {
      url: webhookUrl.optional(),
      events: webhookEvents.optional(),
      enabled: z
        .boolean('must be true or false')
        .optional()
        .meta({ description: 'Whether it receives events. Pending deliveries fail when it is disabled.' }),
    },
    BODY_MESSAGE,
  )
  .meta({
    id: 'WebhookChange',
    description: 'The fields of a webhook that change.',
    examples: [{ enabled: true }],
  });
export type ChangeWebhookInput = z.infer<typeof ChangeWebhookInput>;

export const RotateSecretInput = z
  .object(
    {
      overlapSeconds: int32(
        'Seconds for which the old secret signs too. The default is 24 hours.',
        0,
        OVERLAP_MAX_SECONDS,
      ).optional(),
    },
    BODY_MESSAGE,
  )
  .meta({
    id: 'SecretRotation',
    description: 'Options for the rotation of a secret.',
    examples: [{ overlapSeconds: 3600 }],
  });
export type RotateSecretInput = z.infer<typeof RotateSecretInput>;

export const Webhook = z
  .object({
    id: uuid('Identifier of the webhook.'),
    url: z.string().meta(webhookUrl.meta() ?? {}),
    events: z
      .enum(EVENT_TYPES)
      .array()
      .max(EVENT_TYPES.length)
      .meta(webhookEvents.meta() ?? {}),
    enabled: z.boolean().meta({ description: 'Whether it receives events.' }),
    disabledAt: dateTime(
      'When it was disabled: by an administrator, or because its receiver responded 410; null if it is enabled.',
    ).nullable(),
    previousSecretEndsAt: dateTime(
      'Until when the secret before the last rotation signs too; null if it does not.',
    ).nullable(),
    createdAt: dateTime('When it was created.'),
  })
  .meta({ id: 'Webhook', description: 'A receiver of events, without its secret.' });
export type Webhook = z.infer<typeof Webhook>;

export const WebhookWithSecret = z
  .object({
    ...Webhook.shape,
    secret: plainText('Verifies deliveries. It is not shown again.', SECRET_MAX_LENGTH),
  })
  .meta({ id: 'WebhookWithSecret', description: 'A webhook with its new secret.' });
export type WebhookWithSecret = z.infer<typeof WebhookWithSecret>;

export const WebhookDelivery = z
  .object({
    id: uuid('Identifier of the delivery, which is its `webhook-id`.'),
    event: plainText(
      `Type of the event; \`${TEST_EVENT}\` for one that an administrator sent.`,
      EVENT_MAX_LENGTH,
    ),
    payload: z.record(z.string().max(EVENT_MAX_LENGTH), z.unknown()).meta({
      description: 'The body that is sent: `type`, `timestamp` and `data`.',
    }),
    state: z.enum(DELIVERY_STATES).meta({ description: 'A `failed` one is not sent again by itself.' }),
    attempts: z
      .int32()
      .min(0)
      .meta({ description: 'Attempts since it was queued, the first time or again.' }),
    createdAt: dateTime('When it was queued first.'),
    lastAttemptAt: dateTime('When it was sent last; null if it was not.').nullable(),
    nextAttemptAt: dateTime('When it is sent next; null if it is not pending.').nullable(),
    lastFailure: plainText('Why the last attempt failed; null if it did not.', FAILURE_MAX_LENGTH).nullable(),
  })
  .meta({ id: 'WebhookDelivery', description: 'An event for one webhook.' });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const WebhookQuery = z.object({
  limit: limitParameter('Maximum number of webhooks returned.'),
  /** The page begins after this id. */
  cursor: cursorParameter((text) => (isUuid(text) ? text : null)),
});
export type WebhookQuery = z.infer<typeof WebhookQuery>;

/** The position of a delivery in its list. */
type DeliveryPosition = Pick<WebhookDelivery, 'createdAt' | 'id'>;

export const DeliveryQuery = z.object({
  limit: limitParameter('Maximum number of deliveries returned.'),
  state: z
    .enum(DELIVERY_STATES, once(`must be one of ${DELIVERY_STATES.join(', ')}`))
    .optional()
    .meta({ description: 'Only deliveries in this state.' }),
  /** The page begins after this delivery. */
  cursor: cursorParameter(readDeliveryPosition),
});
export type DeliveryQuery = z.infer<typeof DeliveryQuery>;

/** Returns the position of a delivery as the text of a cursor. */
export function deliveryPositionText({ createdAt, id }: DeliveryPosition): string {
  return [createdAt, id].join(SEPARATOR);
}

function readDeliveryPosition(text: string): DeliveryPosition | null {
  const { data } = z.tuple([z.iso.datetime(), z.string().refine(isUuid)]).safeParse(text.split(SEPARATOR));
  return data === undefined ? null : { createdAt: data[0], id: data[1] };
}

function isReceiverUrl(text: string): boolean {
  if (!URL.canParse(text)) {
    return false;
  }
  const { protocol, username, password, hash } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '' && hash === '';
}
