import type { INestApplicationContext } from '@nestjs/common';
import type { Plan, SetPlanInput } from '../keys/plan.schemas.js';
import { PlanService } from '../keys/plan.service.js';
import { positiveInteger } from './arguments.js';
import { changeCommand, type ChangeOptions, command, group } from './command.js';
import { everyPage } from './every-page.js';
import { limitsText, warningLines } from './key-output.js';
import { confirm } from './output/confirmation.js';
import { linesText, tableText } from './output/text.js';

export const plansCommand = group('plans', 'plans and their limits', [
  command('list', 'list plans in order of their names').run(async (services) => {
    const plans = await findPlans(services);
    return { value: plans, text: () => plansText(plans) };
  }),

  changeCommand(
    'set',
    'set the limits of a plan, and create the plan if it does not exist; what is not given stays',
  )
    .argument('<plan>', 'name of the plan')
    .option('--per-minute <n>', 'requests per minute; a new plan needs both', positiveInteger)
    .option('--per-day <n>', 'requests per day', positiveInteger)
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', '\nExample:\n  animal-store plans set startup --per-minute 120 --per-day 3000')
    .requireOneOf('--per-minute', '--per-day')
    .run(async (services, name: string, options: ChangeOptions & SetPlanInput) => {
      const { perMinute, perDay, as } = options;
      const limits = { perMinute, perDay };
      const old = (await findPlans(services)).find((plan) => plan.name === name);
      if (old !== undefined) {
        const { perMinute: toPerMinute = old.perMinute, perDay: toPerDay = old.perDay } = limits;
        const changed = limitsText({ perMinute: toPerMinute, perDay: toPerDay });
        const change = `from ${limitsText(old)}, to ${changed}`;
        await confirm(`Change plan ${name} ${change}, for all its keys?`, options);
      }
      const { plan } = await services.get(PlanService).set(name, limits, as);
      return { value: plan, text: () => plansText([plan]) + linesText(...warningLines(plan)) };
    }),
]);

function findPlans(services: INestApplicationContext): Promise<Plan[]> {
  return everyPage<Plan>((limit, last) => services.get(PlanService).page(limit, last?.name));
}

function plansText(plans: Plan[]): string {
  return tableText(
    plans.map(({ name, perMinute, perDay }) => ({
      plan: name,
      'per minute': perMinute ?? 'custom',
      'per day': perDay ?? 'custom',
    })),
  );
}
