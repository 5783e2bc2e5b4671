import { setTimeout as sleep } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { Option } from 'commander';
import { z } from 'zod';
import {
  CreateWebhookInput,
  DELIVERY_STATES,
  type DeliveryQuery,
  type UpdateWebhookInput,
} from '../webhooks/webhook.schemas.js';
import { DEADLINE_MS } from '../webhooks/post-to-receiver.js';
import {
  type DeliveryRecord,
  type NewWebhook,
  type WebhookRecord,
  WebhookService,
} from '../webhooks/webhook.service.js';
import { SUBSCRIPTIONS, TEST_EVENT } from '../webhooks/events.js';
import { parsedBy, positiveInteger, recordText } from './arguments.js';
import { changeCommand, type ChangeOptions, command, group } from './command.js';
import { everyPage } from './every-page.js';
import { confirm } from './output/confirmation.js';
import { findId } from './record-id.js';
import { fieldsText, linesText, tableText } from './output/text.js';

const { url: webhookUrl, events: webhookEvents } = CreateWebhookInput.shape;
const eventList = z
  .string()
  .transform((text) => text.split(','))
  .pipe(webhookEvents);
const urlOption = () => new Option('--url <url>', 'where events are sent').argParser(parsedBy(webhookUrl));
const eventsOption = () =>
  new Option(
    '--events <types>',
    `with commas between, or "*" for all: ${SUBSCRIPTIONS.join(', ')}`,
  ).argParser(parsedBy(eventList));
const ID = ['<id>', 'id of the webhook', recordText] as const;

interface CreateOptions extends ChangeOptions, Omit<CreateWebhookInput, 'quotaId'> {
  quota?: string;
}

interface UpdateOptions extends ChangeOptions, Omit<UpdateWebhookInput, 'paused'> {
  pause?: true;
  resume?: true;
}

/** Returns the action of a command that prints a webhook or a delivery, or a list of them. */
const action =
  <Arguments extends unknown[]>(
    work: (webhooks: WebhookService, ...args: Arguments) => Promise<object | object[]>,
  ) =>
  async (services: INestApplicationContext, ...args: Arguments) => {
    const value = await work(services.get(WebhookService), ...args);
    const text = () =>
      Array.isArray(value) ? tableText(value.map(toCells)) : fieldsText(toCells(value)) + noteOn(value);
    return { value, text };
  };

function noteOn(shown: object): string {
  const { secret, eventType, state } = shown as Partial<NewWebhook & DeliveryRecord>;
  if (secret !== undefined) {
    return linesText('The secret is not shown again.');
  }
  const isWaiting = eventType === TEST_EVENT && state === 'pending';
  return isWaiting ? linesText('It is sent once the service runs and can reach this database.') : '';
}

/**
 * Returns what a person reads of a webhook or a delivery; bodies are left to programs. The last delivery of a
 * webhook is one cell.
 */
function toCells(shown: object) {
  const { lastDelivery, ...others } = shown as Partial<WebhookRecord>;
  const last = lastDelivery === undefined ? {} : { lastDelivery: deliveryText(lastDelivery) };
  const fields = Object.entries({ ...others, ...last }).filter(
    ([name]) => !['payload', 'responseBody'].includes(name),
  );
  const words = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const text = (value: unknown) => (value instanceof Date ? value.toISOString() : String(value));
  return Object.fromEntries(
    fields.map(([name, value]) => [words(name), value === null ? null : text(value)]),
  );
}

function deliveryText(delivery: WebhookRecord['lastDelivery']): string | null {
  return delivery && (delivery.lastFailure ?? `delivered: ${delivery.responseStatus}`);
}

/** How long a replica of the service may take to send a test event and to store the outcome. */
const OUTCOME_MS = DEADLINE_MS + 3000;
const POLL_MS = 200;

/** Returns a delivery once its attempt has ended, or after some time as it is then. */
async function awaitOutcome(webhooks: WebhookService, webhookId: string, { id }: DeliveryRecord) {
  const endMs = performance.now() + OUTCOME_MS;
  let delivery = await webhooks.delivery(webhookId, id);
  while (delivery.state === 'pending' && performance.now() < endMs) {
    await sleep(POLL_MS);
    delivery = await webhooks.delivery(webhookId, id);
  }
  return delivery;
}

export const webhooksCommand = group('webhooks', 'receivers of events on keys and quotas', [
  command('list', 'list webhooks, oldest first')
    .option('--quota <id>', 'only webhooks that are limited to this quota', recordText)
    .run(async (services, { quota }: { quota?: string }) => {
      const quotaId = await findId(services, 'quota', quota);
      const list = action((webhooks) =>
        everyPage<WebhookRecord>((limit, last) => webhooks.page({ limit, cursor: last?.id, quotaId })),
      );
      return list(services);
    }),

  command('show', 'show a webhook')
    .argument(...ID)
    .run(action((webhooks, id: string) => webhooks.find(id))),

  changeCommand('create', 'create a webhook; its secret is shown only once')
    .addOption(urlOption().makeOptionMandatory())
    .addOption(eventsOption().makeOptionMandatory())
    .option('--quota <id>', 'send only events of this quota and of its keys', recordText)
    .run(async (services, { url, events, quota, as }: CreateOptions) => {
      const quotaId = await findId(services, 'quota', quota);
      return action((webhooks) => webhooks.create({ url, events, quotaId }, as))(services);
    }),

  changeCommand('update', 'change a webhook, pause it, or resume it; what is not given stays')
    .argument(...ID)
    .addOption(urlOption())
    .addOption(eventsOption())
    .option('--pause', 'queue no events for it, and let pending deliveries wait')
    .addOption(new Option('--resume', 'send pending deliveries, and queue events again').conflicts('pause'))
    .requireOneOf('--url', '--events', '--pause', '--resume')
    .run(
      action((webhooks, id: string, { url, events, pause, resume, as }: UpdateOptions) =>
        webhooks.update(id, { url, events, paused: pause ?? (resume ? false : undefined) }, as),
      ),
    ),

  changeCommand('rotate-secret', 'replace the secret; both sign for 24 hours')
    .argument(...ID)
    .run(action((webhooks, id: string, { as }: ChangeOptions) => webhooks.rotateSecret(id, as))),

  changeCommand('test', 'send a test event once, whatever the events of the webhook, and await the result')
    .argument(...ID)
    .run(
      action(async (webhooks, id: string, { as }: ChangeOptions) =>
        awaitOutcome(webhooks, id, await webhooks.test(id, as)),
      ),
    ),

  changeCommand('delete', 'delete a webhook with its deliveries')
    .argument(...ID)
    .option('--yes', 'do not ask for confirmation')
    .run(
      action(async (webhooks, id: string, options: ChangeOptions) => {
        const { url } = await webhooks.find(id);
        await confirm(`Delete the webhook to ${url} with its deliveries?`, options);
        return webhooks.delete(id, options.as);
      }),
    ),

  command('deliveries', 'list the deliveries of a webhook, newest first')
    .argument(...ID)
    .addOption(new Option('--state <state>', 'only in this state').choices(DELIVERY_STATES))
    .option('--limit <n>', 'maximum number of deliveries', positiveInteger, 20)
    .run(
      action(
        async (webhooks, id: string, query: DeliveryQuery) => (await webhooks.deliveries(id, query)).entries,
      ),
    ),

  changeCommand('resend', 'send a delivery again that is not pending')
    .argument(...ID)
    .argument('<delivery>', 'id of the delivery', recordText)
    .run(
      action((webhooks, id: string, deliveryId: string, { as }: ChangeOptions) =>
        webhooks.resend(id, deliveryId, as),
      ),
    ),
]);
