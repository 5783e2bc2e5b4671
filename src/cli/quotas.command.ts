import { externalId, planName, type Quota, type UpdateQuotaInput } from '../keys/quota.schemas.js';
import { QuotaService } from '../keys/quota.service.js';
import type { RateLimitStatus } from '../rate-limit/rate-limit-status.schema.js';
import { UsageService } from '../usage/usage.service.js';
import type { WhatIf, WhatIfQuery } from '../usage/what-if.schemas.js';
import { EXTERNAL_ID_HELP, parsedBy, PLAN_HELP, positiveInteger, rangeEnd, recordText } from './arguments.js';
import { changeCommand, type ChangeOptions, command, group } from './command.js';
import { limitsText, planText } from './key-output.js';
import { confirm } from './output/confirmation.js';
import { fieldsText, linesText, type Output } from './output/text.js';
import { EXACTLY, findId } from './record-id.js';

const ID = [
  '<id>',
  'id of the quota or a unique end of it, its external id, or the id or last four characters of one of its ' +
    'keys',
  recordText,
] as const;

interface UpdateOptions extends ChangeOptions {
  plan?: string;
  perMinute?: number;
  perDay?: number;
  /** False for `--no-external-id`. */
  externalId?: string | false;
  /** False for `--no-limits`. */
  limits: boolean;
}

export const quotasCommand = group('quotas', 'quotas: the plan, limits, counts and ban that keys share', [
  command('show', 'show the plan of a quota, its limits and its ban')
    .argument(...ID)
    .run(async (services, id: string) =>
      quotaOutput(await services.get(QuotaService).find(await findId(services, 'quota', id))),
    ),

  changeCommand(
    'update',
    'change the plan of a quota, its own limits or its external id; what is not given stays',
  )
    .argument(...ID)
    .option('--plan <plan>', PLAN_HELP, parsedBy(planName))
    .option('--per-minute <n>', 'own limit per minute', positiveInteger)
    .option('--per-day <n>', 'own limit per day', positiveInteger)
    .option('--no-limits', 'remove the own limits, so that those of the plan apply')
    .option('--external-id <text>', EXTERNAL_ID_HELP, parsedBy(externalId))
    .option('--no-external-id', 'remove the external id')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText(
      'after',
      '\nThe counts of the current windows are kept.\n\nExamples:\n' +
        '  animal-store quotas update 019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a10 --plan pro --no-limits\n' +
        '  animal-store quotas update 0f8f6a10 --plan enterprise --per-minute 5000 --per-day 1000000',
    )
    .requireOneOf('--plan', '--per-minute', '--per-day', '--no-limits', '--external-id', '--no-external-id')
    .rejectIf(
      ({ perMinute, perDay, limits }: UpdateOptions) =>
        !limits && (perMinute !== undefined || perDay !== undefined),
      '--no-limits cannot be used with --per-minute or --per-day',
    )
    .run(async (services, text: string, { limits, as, ...options }: UpdateOptions) => {
      const quotas = services.get(QuotaService);
      const id = await findId(services, 'quota', text);
      const { plan, perMinute, perDay } = limits ? options : { ...options, perMinute: null, perDay: null };
      const { externalId: customer } = options;
      const input = { plan, perMinute, perDay, externalId: customer === false ? null : customer };
      const old = await quotas.find(id);
      const changes = changeText(input);
      // An external id changes nothing for the holders of the keys.
      if (changes !== '') {
        await confirm(`Change ${quotaText(old)} from plan ${planText(old)}, to ${changes}?`, options);
      }
      return quotaOutput(await quotas.update(id, input, as));
    }),

  changeCommand('unban', 'end the ban of a quota immediately')
    .argument(...ID)
    .run(async (services, text: string, { as }: ChangeOptions) => {
      const quotas = services.get(QuotaService);
      const { id, bannedUntil } = await quotas.find(await findId(services, 'quota', text));
      const line = bannedUntil === null ? 'It was not banned.' : `Its ban until ${bannedUntil} has ended.`;
      return quotaOutput(await quotas.unban(id, as), line);
    }),

  changeCommand(
    'erase',
    'erase the customer of a quota: revoke its keys, and remove their names, notes and networks, also from ' +
      'the audit and from events, with its failed requests and stored responses; ids and counts stay, ' +
      'and webhooks that are limited to the quota are paused',
  )
    .argument('<id>', 'whole id of the quota, or its external id', recordText)
    .option('--yes', 'do not ask for confirmation')
    .run(async (services, text: string, { as, ...options }: ChangeOptions) => {
      const quotas = services.get(QuotaService);
      const old = await quotas.find(await findId(services, 'quota', text, EXACTLY));
      const keys = countText(old.validKeyCount, 'valid key');
      const revoke = old.validKeyCount === 0 ? '' : ` and revoke its ${keys}`;
      await confirm(`Erase the customer of ${quotaText(old)}${revoke}, permanently?`, options);
      const { quota, wasErased } = await quotas.erase(old.id, as);
      return quotaOutput(quota, wasErased ? 'Its customer was erased already.' : 'Its customer was erased.');
    }),

  command('rate-limit', 'show the windows and the ban of a quota, without counting against it')
    .argument(...ID)
    .run(async (services, id: string) => {
      const status = await services.get(QuotaService).findRateLimit(await findId(services, 'quota', id));
      return { value: status, text: () => statusText(status) };
    }),

  command('what-if', "show what other limits would have denied of a quota's requests")
    .argument(...ID)
    .option('--plan <plan>', 'try the limits of this plan')
    .option('--per-minute <n>', "try this limit per minute instead of the plan's", positiveInteger)
    .option('--per-day <n>', "try this limit per day instead of the plan's", positiveInteger)
    .option('--since <instant>', 'only UTC days that started then or later', rangeEnd)
    .option('--until <instant>', 'only minutes that started before', rangeEnd)
    .addHelpText(
      'after',
      '\nDenied requests count as sent, those that repeat others included. Bans are left out.' +
        '\nExample:\n  animal-store quotas what-if 019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11 --plan pro',
    )
    .rejectIf(
      ({ plan, perMinute, perDay }: WhatIfQuery) =>
        plan === undefined && (perMinute === undefined || perDay === undefined),
      'add --plan, or --per-minute and --per-day',
    )
    .run(async (services, text: string, query: WhatIfQuery) => {
      const id = await findId(services, 'quota', text);
      const whatIf = await services.get(UsageService).whatIf(id, query);
      return { value: whatIf, text: () => whatIfText(whatIf) };
    }),
]).addHelpText(
  'after',
  '\nAn <id> is the id of a quota or a unique end of it, as "keys list" prints it, its external id, or the ' +
    'id or last four characters of one of its keys. Options --quota of other commands take the same. ' +
    '"erase" takes a whole id or an external id only.',
);

function quotaOutput(quota: Quota, ...lines: string[]): Output {
  const text = () =>
    fieldsText({
      id: quota.id,
      'external id': quota.externalId ?? undefined,
      plan: planText(quota),
      'valid keys': quota.validKeyCount,
      created: quota.createdAt,
      'banned until': quota.bannedUntil ?? undefined,
    }) + linesText(...lines);
  return { value: quota, text, warnings: quota.warnings };
}

function quotaText({ id, externalId: customer }: Quota): string {
  return `quota ${id}${customer === null ? '' : ` ("${customer}")`}`;
}

function changeText({ plan, perMinute, perDay }: UpdateQuotaInput): string {
  const changes = [
    plan === undefined ? [] : [`plan ${plan}`],
    perMinute === null ? ['the limits of the plan'] : [],
    perMinute ? [`${perMinute} requests per minute`] : [],
    perDay ? [`${perDay} requests per day`] : [],
  ];
  return changes.flat().join(', ');
}

function statusText({ plan, windows, denialsUntilBan, bannedUntil }: RateLimitStatus): string {
  const remaining = windows.map(({ name, limit, remaining: left, reset }): [string, string] => [
    `this ${name}`,
    `${left} of ${limit} requests remain until ${new Date(reset * 1000).toISOString()}`,
  ]);
  return fieldsText({
    plan,
    ...Object.fromEntries(remaining),
    'denials until ban': denialsUntilBan,
    'banned until': bannedUntil,
  });
}

const countText = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;

function whatIfText({ worstMinute, smallestPlans, ...whatIf }: WhatIf): string {
  const plans = smallestPlans.map(({ maxDeniedRatio, plan }) => [
    `smallest plan that denies ${maxDeniedRatio === 0 ? 'no request' : `at most ${maxDeniedRatio * 100} %`}`,
    plan,
  ]);
  return fieldsText({
    tried: limitsText(whatIf),
    'on requests since': `${whatIf.since}, with requests on ${countText(whatIf.recordedDays, 'day')}`,
    'and until': whatIf.until ?? undefined,
    requests: whatIf.requests,
    'would be denied': [
      String(whatIf.denied),
      `in ${countText(whatIf.deniedMinutes, 'minute')}`,
      `on ${countText(whatIf.deniedDays, 'day')}`,
    ].join(', '),
    'worst minute':
      worstMinute && `${worstMinute.startsAt}, ${worstMinute.denied} of ${worstMinute.requests}`,
    ...(Object.fromEntries(plans) as Record<string, string | null>),
  });
}
