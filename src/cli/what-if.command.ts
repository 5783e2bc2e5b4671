import type { Command } from 'commander';
import { UsageService } from '../usage/usage.service.js';
import type { WhatIf, WhatIfQuery } from '../usage/what-if.schemas.js';
import { positiveInteger } from './arguments.js';
import { command, withServices } from './command.js';
import { findKeyId } from './key-id.js';
import { limitsText } from './key-output.js';
import { fieldsText } from './output/text.js';

/** `keys what-if` */
export const whatIfCommand = command(
  'what-if',
  "show what other limits would have denied of a quota's requests",
)
  .argument('<id>', 'id of a key of the quota')
  .option('--plan <plan>', 'try the limits of this plan')
  .option('--per-minute <n>', "try this limit per minute instead of the plan's", positiveInteger)
  .option('--per-day <n>', "try this limit per day instead of the plan's", positiveInteger)
  .addHelpText(
    'after',
    '\nDenied requests count as sent, also those that repeat others. Bans are left out.' +
      '\nExample:\n  animal-store keys what-if 0f8f6a11 --plan pro --per-day 20000',
  )
  .hook('preAction', requireLimits)
  .action(
    withServices(async (services, id: string, query: WhatIfQuery) => {
      const whatIf = await services.get(UsageService).whatIf(await findKeyId(services, id), query);
      return { value: whatIf, text: () => whatIfText(whatIf) };
    }),
  );

function requireLimits(whatIf: Command): void {
  const { plan, perMinute, perDay } = whatIf.opts<WhatIfQuery>();
  if (plan === undefined && (perMinute === undefined || perDay === undefined)) {
    whatIf.error('error: add --plan, or --per-minute and --per-day');
  }
}

function whatIfText({ worstMinute, smallestPlan, ...whatIf }: WhatIf): string {
  return fieldsText({
    tried: limitsText(whatIf),
    'on requests since': `${whatIf.since}, recorded on days: ${whatIf.recordedDays}`,
    requests: whatIf.requests,
    'would be denied': `${whatIf.denied}, in minutes: ${whatIf.deniedMinutes}, on days: ${whatIf.deniedDays}`,
    'worst minute':
      worstMinute && `${worstMinute.startsAt}, ${worstMinute.denied} of ${worstMinute.requests}`,
    'smallest plan that denies none': smallestPlan.denyingNone,
    'smallest plan that denies under 0.1 %': smallestPlan.denyingFew,
  });
}
