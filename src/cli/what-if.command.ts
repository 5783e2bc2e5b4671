import { UsageService } from '../usage/usage.service.js';
import type { WhatIf, WhatIfQuery } from '../usage/what-if.schemas.js';
import { instant } from '../schemas/instant.js';
import { parsedBy, positiveInteger } from './arguments.js';
import { command } from './command.js';
import { limitsText } from './key-output.js';
import { fieldsText } from './output/text.js';
import { findId } from './record-id.js';

export const whatIfCommand = command(
  'what-if',
  "show what other limits would have denied of a quota's requests",
)
  .argument('<id>', 'id of the quota')
  .option('--plan <plan>', 'try the limits of this plan')
  .option('--per-minute <n>', "try this limit per minute instead of the plan's", positiveInteger)
  .option('--per-day <n>', "try this limit per day instead of the plan's", positiveInteger)
  .option('--since <instant>', 'only UTC days that started then or later', parsedBy(instant))
  .option('--until <instant>', 'only minutes that started before', parsedBy(instant))
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
  });

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
