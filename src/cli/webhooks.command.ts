import type { INestApplicationContext } from '@nestjs/common';
import { Option } from 'commander';
import { z } from 'zod';
import {
  CreateWebhookInput,
  DELIVERY_STATES,
  type DeliveryQuery,
  type UpdateWebhookInput,
} from '../webhooks/webhook.schemas.js';
import { type WebhookRecord, WebhookService } from '../webhooks/webhook.service.js';
import { SUBSCRIPTIONS } from '../webhooks/events.js';
import { parsedBy, positiveInteger } from './arguments.js';
import { changeCommand, type ChangeOptions, command, group } from './command.js';
import { everyPage } from './every-page.js';
import { confirm } from './output/confirmation.js';
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
const ID = ['<id>', 'id of the webhook'] as const;

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
    const note = 'secret' in value ? linesText('The secret is not shown again.') : '';
    const text = () =>
      Array.isArray(value) ? tableText(value.map(toCells)) : fieldsText(toCells(value)) + note;
    return { value, text };
  };

/** Returns what a person reads of a webhook or a delivery; bodies are left to programs. */
function toCells(shown: object) {
  const fields = Object.entries(shown).filter(([name]) => !['payload', 'responseBody'].includes(name));
  const words = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const text = (value: unknown) => (value instanceof Date ? value.toISOString() : String(value));
  return Object.fromEntries(
    fields.map(([name, value]) => [words(name), value === null ? null : text(value)]),
  );
}

export const webhooksCommand = group('webhooks', 'receivers of events on keys and quotas', [
  command('list', 'list webhooks, oldest first').run(
    action((webhooks) => everyPage<WebhookRecord>((limit, last) => webhooks.page(limit, last?.id))),
  ),

  command('show', 'show a webhook')
    .argument(...ID)
    .run(action((webhooks, id: string) => webhooks.find(id))),

  changeCommand('create', 'create a webhook; its secret is shown only once')
    .addOption(urlOption().makeOptionMandatory())
    .addOption(eventsOption().makeOptionMandatory())
    .run(
      action((webhooks, { url, events, as }: CreateWebhookInput & ChangeOptions) =>
        webhooks.create({ url, events }, as),
      ),
    ),

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

  changeCommand('test', 'send a test event, whatever the events of the webhook')
    .argument(...ID)
    .run(action((webhooks, id: string, { as }: ChangeOptions) => webhooks.test(id, as))),

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
    .argument('<delivery>', 'id of the delivery')
    .run(
      action((webhooks, id: string, deliveryId: string, { as }: ChangeOptions) =>
        webhooks.resend(id, deliveryId, as),
      ),
    ),
]);
