import { z } from 'zod';
import { openEnum, openEnumList } from '../schemas/open-enum.js';
import { enumParameter } from '../schemas/pagination.js';
import {
  BODY_MESSAGE,
  bodyString,
  dateTime,
  isPlainText,
  orRequired,
  plainText,
  uuid,
} from '../schemas/text-schemas.js';
import { isUuid, pageQuery, UUID_LENGTH, uuidParameter } from '../schemas/uuid.js';
import { PAUSE_REASONS, SUBSCRIPTIONS } from './events.js';
import { RESPONSE_BODY_MAX_BYTES } from './post-to-receiver.js';

const URL_MAX_LENGTH = 2048;
const URL_MESSAGE = `must be an http(s) address without credentials, of at most ${URL_MAX_LENGTH} characters`;
const EVENTS_MESSAGE = `must be a list of one or more of ${SUBSCRIPTIONS.join(', ')}`;
const QUOTA_MESSAGE = 'must be the id of a quota';
const TEXT_MAX_LENGTH = 1000;
export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;

export const CreateWebhookInput = z
  .object(
    {
      url: z
        .string(orRequired(URL_MESSAGE))
        .max(URL_MAX_LENGTH, URL_MESSAGE)
        .refine(isReceiverUrl, URL_MESSAGE)
        .meta({ description: 'The http(s) address that gets the events.', format: 'uri' }),
      events: z
        .array(z.enum(SUBSCRIPTIONS, EVENTS_MESSAGE), orRequired(EVENTS_MESSAGE))
        .min(1, EVENTS_MESSAGE)
        .max(SUBSCRIPTIONS.length, EVENTS_MESSAGE)
        .meta({
          description:
            'The types of the events that it receives; `*` stands for every type, including those of ' +
            'later versions.',
        }),
      quotaId: bodyString
        .refine(isUuid, QUOTA_MESSAGE)
        .optional()
        .meta({
          description:
            'Identifier of the only quota whose events it receives, with those of its keys. By default it ' +
            'receives events of every quota.',
          format: 'uuid',
          maxLength: UUID_LENGTH,
        }),
    },
    BODY_MESSAGE,
  )
  .meta({
    id: 'NewWebhook',
    description: 'A new webhook.',
    examples: [{ url: 'https://ops.example/animal-store', events: ['quota.banned', 'key.expiring'] }],
  });
export type CreateWebhookInput = z.infer<typeof CreateWebhookInput>;

const paused = z.boolean('must be true or false').meta({
  description: 'While it is true, no events are queued for the webhook, and pending deliveries wait.',
});

export const UpdateWebhookInput = CreateWebhookInput.omit({ quotaId: true })
  .extend({ paused })
  .partial()
  .meta({
    id: 'WebhookUpdate',
    description: 'A change of a webhook. What is left out stays.',
    examples: [{ url: 'https://ops.example/animal-store', paused: false }],
  });
export type UpdateWebhookInput = z.infer<typeof UpdateWebhookInput>;

export const WebhookDelivery = z
  .object({
    id: uuid('Identifier of the delivery.'),
    eventId: uuid('Identifier of the event, sent as `webhook-id`: the same for each webhook and attempt.'),
    eventType: plainText('Type of the event.', TEXT_MAX_LENGTH),
    payload: z
      .record(z.string().max(TEXT_MAX_LENGTH), z.unknown())
      .meta({ description: 'The body that is sent: `type`, `timestamp` and `data`.' }),
    state: openEnum(DELIVERY_STATES).meta({
      description: 'A `failed` delivery is not retried; a `webhook.test` is sent only once.',
    }),
    attempts: z.int32().min(0).meta({ description: 'Attempts since it was last queued.' }),
    createdAt: dateTime('When it was queued first.'),
    lastAttemptAt: dateTime('When it was sent last; null if it was not.').nullable(),
    nextAttemptAt: dateTime(
      'When it is sent next; null if it is not pending, or the webhook is paused.',
    ).nullable(),
    lastFailure: plainText('Why the last attempt failed; null if it did not.', TEXT_MAX_LENGTH).nullable(),
    responseStatus: z.int32().min(0).max(999).nullable().meta({
      description: 'Status of the response to the last attempt; null if there was none.',
    }),
    responseBody: plainText(
      `First ${RESPONSE_BODY_MAX_BYTES} bytes of its body, as UTF-8; null if there was none.`,
      RESPONSE_BODY_MAX_BYTES,
    ).nullable(),
  })
  .meta({ id: 'WebhookDelivery', description: 'An event for one webhook.' });

/** How many deliveries that fail are counted. */
export const FAILING_MAX = 1000;

/** The fields of a delivery that its webhook shows of the last one. */
export const LAST_DELIVERY_FIELDS = {
  id: true,
  eventType: true,
  state: true,
  attempts: true,
  lastAttemptAt: true,
  nextAttemptAt: true,
  lastFailure: true,
  responseStatus: true,
} as const;

export const Webhook = CreateWebhookInput.extend({
  id: uuid('Identifier of the webhook.'),
  events: openEnumList(SUBSCRIPTIONS, 'The types of the events that it receives.'),
  quotaId: uuid(
    'Identifier of the only quota whose events it receives, with those of its keys; null for every quota.',
  ).nullable(),
  paused,
  pausedAt: dateTime('Since when it is paused; null if it is not.').nullable(),
  pauseReason: openEnum(PAUSE_REASONS)
    .nullable()
    .meta({
      description:
        'Why it is paused: `administrator` if an administrator did it, `gone` if the receiver responded ' +
        '410, `failing` if no delivery succeeded for three days; null if it is not.',
    }),
  lastDelivery: WebhookDelivery.pick(LAST_DELIVERY_FIELDS).nullable().meta({
    description: 'The delivery whose attempt ended last, of the last 30 days; null if there is none.',
  }),
  failingDeliveryCount: z
    .int32()
    .min(0)
    .meta({
      description: `The pending deliveries whose last attempt failed. At most ${FAILING_MAX} are counted.`,
    }),
  nextAttemptAt: dateTime(
    'When a pending delivery is sent next; null if none is pending, or the webhook is paused.',
  ).nullable(),
  previousSecretExpiresAt: dateTime(
    'Until when the secret before the last rotation signs too; null if there was none.',
  ).nullable(),
  createdAt: dateTime('When it was created.'),
}).meta({ id: 'Webhook', description: 'A receiver of events, without its secret.' });

export const WebhookWithSecret = Webhook.extend({
  secret: plainText('Verifies deliveries. It is not shown again.', TEXT_MAX_LENGTH),
}).meta({ id: 'WebhookWithSecret', description: 'A webhook with its new secret.' });

export const WebhookQuery = pageQuery('webhooks').extend({
  quotaId: uuidParameter('Only webhooks that are limited to this quota.', QUOTA_MESSAGE),
});
export type WebhookQuery = z.infer<typeof WebhookQuery>;

export const DeliveryQuery = pageQuery('entries').extend({
  state: enumParameter(DELIVERY_STATES, 'Only deliveries in this state.'),
});
export type DeliveryQuery = z.infer<typeof DeliveryQuery>;

function isReceiverUrl(text: string): boolean {
  const { protocol, username, password } = new URL(URL.canParse(text) ? text : 'none:');
  return isPlainText(text) && /^https?:$/.test(protocol) && username + password === '';
}
