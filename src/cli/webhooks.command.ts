import { type Command, Option } from 'commander';
import { z } from 'zod';
import {
  type CreateWebhookInput,
  DELIVERY_STATES,
  type DeliveryQuery,
  type Webhook,
  type WebhookDelivery,
  webhookEvents,
  webhookUrl,
  type WebhookWithSecret,
} from '../admin/webhooks/webhook.schemas.js';
import { WebhookService } from '../admin/webhooks/webhook.service.js';
import { EVENT_TYPES } from '../webhooks/event-types.js';
import { overlap, parsedBy, positiveInteger } from './arguments.js';
import { changeCommand, type ChangeOptions, command, group, withServices } from './command.js';
import { everyPage } from './every-page.js';
import { confirm } from './output/confirmation.js';
import { fieldsText, linesText, type Output, tableText } from './output/text.js';

const OVERLAP_DEFAULT = '24h';

type ChangeWebhookOptions = ChangeOptions &
  Partial<CreateWebhookInput> & {
    enable?: true;
    disable?: true;
  };

const eventList = z
  .string()
  .transform((text) => text.split(','))
  .pipe(webhookEvents);
const urlOption = () => new Option('--url <url>', 'where events are sent').argParser(parsedBy(webhookUrl));
const eventsOption = () =>
  new Option('--events <types>', `types, with commas between: ${EVENT_TYPES.join(', ')}`).argParser(
    parsedBy(eventList),
  );

/** Returns the action of a command on webhooks, whose output is that of `work`. */
const on = <Arguments extends unknown[]>(
  work: (webhooks: WebhookService, ...args: Arguments) => Promise<Output>,
) => withServices((services, ...args: Arguments) => work(services.get(WebhookService), ...args));

/** `webhooks …` */
export const webhooksCommand = group('webhooks', 'receivers of events on keys and quotas', [
  command('list', 'list webhooks').action(
    on(async (webhooks) => {
      const all = await everyPage<Webhook>((limit, last) => webhooks.page({ limit, cursor: last?.id }));
      return { value: all, text: () => tableText(all.map(toFields)) };
    }),
  ),

  command('show', 'show a webhook, without its secret')
    .argument('<id>', 'id of the webhook')
    .action(on(async (webhooks, id: string) => toOutput(await webhooks.find(id)))),

  changeCommand('create', 'create a webhook; its secret is shown only once')
    .addOption(urlOption().makeOptionMandatory())
    .addOption(eventsOption().makeOptionMandatory())
    .addHelpText(
      'after',
      '\nExample:\n  animal-store webhooks create --url https://ops.example/hook --events quota.banned,key.expiring',
    )
    .action(
      on(async (webhooks, { url, events, as }: CreateWebhookInput & ChangeOptions) =>
        toOutput(await webhooks.create({ url, events }, as)),
      ),
    ),

  changeCommand('change', 'change a webhook; what is not given stays')
    .argument('<id>', 'id of the webhook')
    .addOption(urlOption())
    .addOption(eventsOption())
    .option('--enable', 'send events again')
    .addOption(new Option('--disable', 'send no events, and give up what is pending').conflicts('enable'))
    .hook('preAction', requireChange)
    .action(
      on(async (webhooks, id: string, { url, events, enable, disable, as }: ChangeWebhookOptions) =>
        toOutput(await webhooks.change(id, { url, events, enabled: enable ?? (disable && false) }, as)),
      ),
    ),

  changeCommand('rotate', 'replace the secret; both sign until the overlap ends')
    .argument('<id>', 'id of the webhook')
    .addOption(
      new Option('--overlap <duration>', 'how long both secrets sign, such as 90s, 30m, 24h, 7d, or 0')
        .argParser(overlap)
        .default(overlap(OVERLAP_DEFAULT), OVERLAP_DEFAULT),
    )
    .action(
      on(async (webhooks, id: string, options: ChangeOptions & { overlap: number }) =>
        toOutput(await webhooks.rotateSecret(id, options.overlap, options.as)),
      ),
    ),

  changeCommand('delete', 'delete a webhook with its deliveries')
    .argument('<id>', 'id of the webhook')
    .option('--yes', 'do not ask for confirmation')
    .action(
      on(async (webhooks, id: string, options: ChangeOptions) => {
        const { url } = await webhooks.find(id);
        await confirm(`Delete the webhook to ${url} with its deliveries?`, options);
        return toOutput(await webhooks.delete(id, options.as));
      }),
    ),

  command('test', 'send a test event; a running service delivers it within a second')
    .argument('<id>', 'id of the webhook')
    .action(on(async (webhooks, id: string) => toDeliveryOutput(await webhooks.test(id)))),

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

  command('retry', 'send a delivery again')
    .argument('<id>', 'id of the webhook')
    .argument('<delivery>', 'id of the delivery')
    .action(
      on(async (webhooks, id: string, delivery: string) =>
        toDeliveryOutput(await webhooks.retry(id, delivery)),
      ),
    ),
]);

function requireChange(changed: Command): void {
  const { url, events, enable, disable } = changed.opts<ChangeWebhookOptions>();
  if ((url ?? events ?? enable ?? disable) === undefined) {
    changed.error('error: give --url, --events, --enable or --disable');
  }
}

function toOutput(webhook: Webhook | WebhookWithSecret): Output {
  const text = () =>
    'secret' in webhook
      ? fieldsText({ secret: webhook.secret, ...toFields(webhook) }) +
        linesText('The secret is not shown again.')
      : fieldsText(toFields(webhook));
  return { value: webhook, text };
}

function toDeliveryOutput(delivery: WebhookDelivery): Output {
  return { value: delivery, text: () => fieldsText(toDeliveryFields(delivery)) };
}

function toFields({ id, url, events, disabledAt }: Webhook) {
  return { id, url, events: events.join(', '), 'disabled since': disabledAt };
}

function toDeliveryFields({ id, event, createdAt, state, attempts, ...rest }: WebhookDelivery) {
  const { nextAttemptAt: next, lastFailure } = rest;
  return { id, event, queued: createdAt, state, attempts, next, 'last failure': lastFailure };
}
