import type { INestApplicationContext } from '@nestjs/common';
import type { Plan } from '../keys/plan.schemas.js';
import { PlanService } from '../keys/plan.service.js';
import { KEY_LIFETIME_MAX_DAYS } from '../keys/rules/key-lifetime.js';
import { wholeNumber } from '../process/settings/setting-types.js';
import { parsedBy, positiveInteger, recordText } from './arguments.js';
import { changeCommand, type ChangeOptions, command, group } from './command.js';
import { everyPage } from './every-page.js';
import { limitsText, SET_FOR_EACH_QUOTA } from './key-output.js';
import { confirm } from './output/confirmation.js';
import { tableText } from './output/text.js';

const lifetimeDays = parsedBy(wholeNumber(1, KEY_LIFETIME_MAX_DAYS));

interface SetOptions extends ChangeOptions {
  perMinute?: number;
  perDay?: number;
  /** False to remove it. */
  maxKeyLifetimeDays?: number | false;
}

export const plansCommand = group('plans', 'plans and their limits', [
  command('list', 'list plans in order of their names').run(async (services) => {
    const plans = await findPlans(services);
    return { value: plans, text: () => plansText(plans) };
  }),

  changeCommand(
    'set',
    'set the limits of a plan, and create the plan if it does not exist; what is not given stays',
  )
    .argument('<plan>', 'name of the plan', recordText)
    .option('--per-minute <n>', 'requests per minute; a new plan needs both', positiveInteger)
    .option('--per-day <n>', 'requests per day', positiveInteger)
    .option('--max-key-lifetime-days <n>', 'longest life of a key that is issued from now on', lifetimeDays)
    .option('--no-max-key-lifetime-days', 'let keys live for any time')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', '\nExample:\n  animal-store plans set startup --per-minute 120 --per-day 3000')
    .requireOneOf('--per-minute', '--per-day', '--max-key-lifetime-days', '--no-max-key-lifetime-days')
    .run(async (services, name: string, options: SetOptions) => {
      const { perMinute, perDay, maxKeyLifetimeDays: days, as } = options;
      const limits = { perMinute, perDay };
      const maxKeyLifetimeDays = days === false ? null : days;
      const old = (await findPlans(services)).find((plan) => plan.name === name);
      if (old !== undefined && (perMinute !== undefined || perDay !== undefined)) {
        const { perMinute: toPerMinute = old.perMinute, perDay: toPerDay = old.perDay } = limits;
        const changed = limitsText({ perMinute: toPerMinute, perDay: toPerDay });
        const change = `from ${limitsText(old)}, to ${changed}`;
        await confirm(`Change plan ${name} ${change}, for all its keys?`, options);
      }
      const { plan } = await services.get(PlanService).set(name, { ...limits, maxKeyLifetimeDays }, as);
      return { value: plan, text: () => plansText([plan]), warnings: plan.warnings };
    }),
]);

function findPlans(services: INestApplicationContext): Promise<Plan[]> {
  return everyPage<Plan>((limit, last) => services.get(PlanService).page(limit, last?.name));
}

function plansText(plans: Plan[]): string {
  const isBounded = plans.some(({ maxKeyLifetimeDays: days }) => days !== null);
  return tableText(
    plans.map(({ name, perMinute, perDay, maxKeyLifetimeDays: days, validKeyCount }) => ({
      plan: name,
      'per minute': perMinute ?? SET_FOR_EACH_QUOTA,
      'per day': perDay ?? SET_FOR_EACH_QUOTA,
      'key lifetime': isBounded ? days && `${days} days` : undefined,
      'valid keys': validKeyCount,
    })),
  );
}
