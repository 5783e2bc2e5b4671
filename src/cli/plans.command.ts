import { Command } from 'commander';
import type { Plan } from '../admin/plans/plan.schemas.js';
import { PlanService } from '../admin/plans/plan.service.js';
import { ApiError } from '../errors/api-error.js';
import { type ActorOptions, toActor, withActor } from './actor.js';
import { positiveInteger } from './arguments.js';
import { everyPage } from './every-page.js';
import { limitsText } from './keys/key-output.js';
import { confirm } from './output/confirmation.js';
import { type Format, print, printTable } from './output/print.js';
import { withServices } from './services.js';

interface SetOptions extends ActorOptions, Format {
  perMinute: number;
  perDay: number;
  yes?: true;
}

/** `plans …` */
export function plansCommand(): Command {
  const plans = new Command('plans').description('plans and their limits');
  plans
    .command('list')
    .description('list plans in order of their names')
    .option('--json', 'print a JSON array, for a program')
    .action(list);
  withActor(plans.command('set'))
    .description('set the limits of a plan, and create the plan if it does not exist')
    .argument('<plan>', 'name of the plan')
    .requiredOption('--per-minute <n>', 'requests per minute', positiveInteger)
    .requiredOption('--per-day <n>', 'requests per day', positiveInteger)
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'print one JSON object, for a program')
    .addHelpText('after', '\nExample:\n  animal-store plans set startup --per-minute 120 --per-day 3000')
    .action(set);
  return plans;
}

async function list(format: Format): Promise<void> {
  await withServices(async (services) => {
    const service = services.get(PlanService);
    const all = await everyPage<Plan>(async (limit, last) => {
      const page = await service.page(limit, last?.name);
      return { entries: page.plans, more: page.more };
    });
    await print(all, format, printPlans);
  });
}

async function set(name: string, options: SetOptions): Promise<void> {
  const { perMinute, perDay } = options;
  await withServices(async (services) => {
    const service = services.get(PlanService);
    const old = await findPlan(service, name);
    if (old !== null) {
      await confirm(
        `Change plan ${name} from ${limitsText(old)}, to ${limitsText({ perMinute, perDay })}, for all its keys?`,
        options,
      );
    }
    const { plan } = await service.set(name, { perMinute, perDay }, toActor(options));
    await print(plan, options, () => printPlans([plan]));
  });
}

async function findPlan(service: PlanService, name: string): Promise<Plan | null> {
  try {
    return await service.find(name);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') {
      return null;
    }
    throw error;
  }
}

function printPlans(plans: Plan[]): void {
  printTable(
    plans.map(({ name, perMinute, perDay }) => ({
      plan: name,
      'per minute': perMinute ?? 'custom',
      'per day': perDay ?? 'custom',
    })),
  );
}
