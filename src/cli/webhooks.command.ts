import { Option } from 'commander';
import { z } from 'zod';
import {
  type CreateWebhookInput,
  DELIVERY_STATES,
  type DeliveryQuery,
  webhookEvents,
  webhookUrl,
} from '../admin/webhooks/webhook.schemas.js';
import {
  type DeliveryRecord,
  type NewWebhook,
  type WebhookRecord,
  WebhookService,
} from '../admin/webhooks/webhook.service.js';
import { EVENT_TYPES } from '../webhooks/event-types.js';
import { parsedBy, positiveInteger } from './arguments.js';
import { changeCommand, type ChangeOptions, command, group, withServices } from './command.js';
import { everyPage } from './every-page.js';
import { confirm } from './output/confirmation.js';
import { fieldsText, linesText, type Output, tableText } from './output/text.js';

const eventList = z
  .string()
  .transform((text) => text.split(','))
  .pipe(webhookEvents);

/** Returns the action of a command on webhooks, whose output is that of `work`. */
const on = <Arguments extends unknown[]>(
  work: (webhooks: WebhookService, ...args: Arguments) => Promise<Output>,
) => withServices((services, ...args: Arguments) => work(services.get(WebhookService), ...args));

/** `webhooks …` */
export const webhooksCommand = group('webhooks', 'receivers of events on keys and quotas', [
  command('list', 'list webhooks').action(
    on(async (webhooks) => {
      const all = await everyPage<WebhookRecord>((limit, last) => webhooks.page({ limit, cursor: last?.id }));
      return { value: all, text: () => tableText(all.map(toFields)) };
    }),
  ),

  changeCommand('create', 'create a webhook; its secret is shown only once')
    .requiredOption('--url <url>', 'where events are sent', parsedBy(webhookUrl))
    .requiredOption(
      '--events <types>',
      `types, with commas between: ${EVENT_TYPES.join(', ')}`,
      parsedBy(eventList),
    )
    .action(
      on(async (webhooks, { url, events, as }: CreateWebhookInput & ChangeOptions) =>
        newOutput(await webhooks.create({ url, events }, as)),
      ),
    ),

  changeCommand('rotate', 'replace the secret; both sign for 24 hours')
    .argument('<id>', 'id of the webhook')
    .action(
      on(async (webhooks, id: string, { as }: ChangeOptions) =>
        newOutput(await webhooks.rotateSecret(id, as)),
      ),
    ),

  changeCommand('delete', 'delete a webhook with its deliveries')
    .argument('<id>', 'id of the webhook')
    .option('--yes', 'do not ask for confirmation')
    .action(
      on(async (webhooks, id: string, options: ChangeOptions) => {
        const { url } = await webhooks.find(id);
        await confirm(`Delete the webhook to ${url} with its deliveries?`, options);
        const deleted = await webhooks.delete(id, options.as);
        return { value: deleted, text: () => fieldsText(toFields(deleted)) };
      }),
    ),

  command('deliveries', 'list the deliveries of a webhook, newest first')
    .argument('<id>', 'id of the webhook')
    .addOption(new Option('--state <state>', 'only in this state').choices(DELIVERY_STATES))
    .option('--limit <n>', 'maximum number of deliveries', positiveInteger, 20)
    .action(
      on(async (webhooks, id: string, query: DeliveryQuery) => {
        const { entries } = await webhooks.deliveries(id, query);
        return { value: entries, text: () => tableText(entries.map(toDeliveryFields)) };
      }),
    ),

  command('resend', 'send a delivery again that is not pending')
    .argument('<id>', 'id of the webhook')
    .argument('<delivery>', 'id of the delivery')
    .action(
      on(async (webhooks, id: string, deliveryId: string) => {
        const delivery = await webhooks.resend(id, deliveryId);
        return { value: delivery, text: () => fieldsText(toDeliveryFields(delivery)) };
      }),
    ),
]);

function newOutput(webhook: NewWebhook): Output {
  const fields = { secret: webhook.secret, ...toFields(webhook) };
  return { value: webhook, text: () => fieldsText(fields) + linesText('The secret is not shown again.') };
}

function toFields({ id, url, events }: WebhookRecord) {
  return { id, url, events: events.join(', ') };
}

function toDeliveryFields({ id, event, createdAt, state, attempts, ...rest }: DeliveryRecord) {
  const next = rest.nextAttemptAt?.toISOString() ?? null;
  return {
    id,
    event,
    queued: createdAt.toISOString(),
    state,
    attempts,
    next,
    'last failure': rest.lastFailure,
  };
}
