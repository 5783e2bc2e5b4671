import { WHAT_IF_DAYS_MAX, type WhatIf, type WhatIfQuery } from '../admin/usage/what-if.schemas.js';
import { WhatIfService } from '../admin/usage/what-if.service.js';
import { positiveInteger, wholeNumber } from './arguments.js';
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
  .option('--per-minute <n>', 'try this limit per minute, with --per-day', positiveInteger)
  .option('--per-day <n>', 'try this limit per day, with --per-minute', positiveInteger)
  .option('--days <n>', 'number of UTC days, today included', wholeNumber(WHAT_IF_DAYS_MAX), WHAT_IF_DAYS_MAX)
  .addHelpText(
    'after',
    '\nDenied requests count as sent, so requests that were repeated after a 429 count again. Bans are left out.' +
      '\nExamples:\n  animal-store keys what-if 0f8f6a11 --plan pro\n' +
      '  animal-store keys what-if 0f8f6a11 --per-minute 500 --per-day 20000 --days 7',
  )
  .action(
    withServices(async (services, id: string, query: WhatIfQuery) => {
      const whatIf = await services.get(WhatIfService).replay(await findKeyId(services, id), query);
      return { value: whatIf, text: () => whatIfText(whatIf) };
    }),
  );

function whatIfText({ worstMinute, smallestPlan, ...whatIf }: WhatIf): string {
  return fieldsText({
    tried: limitsText(whatIf),
    'on requests since': `${whatIf.since}, recorded on days: ${whatIf.recordedDays}`,
    requests: whatIf.requests,
    'denied when sent': whatIf.refusals,
    'would be denied': `${whatIf.denied}, in minutes: ${whatIf.deniedMinutes}, on days: ${whatIf.deniedDays}`,
    'worst minute':
      worstMinute && `${worstMinute.startsAt}, ${worstMinute.denied} of ${worstMinute.requests}`,
    'smallest plan that denies none': smallestPlan.denyingNone,
    'smallest plan that denies under 0.1 %': smallestPlan.denyingFew,
  });
}
