import { Command } from 'commander';
import { TERMINAL } from '../admin/audit.js';
import type { Plan } from '../admin/plan.schemas.js';
import { PlanService } from '../admin/plan.service.js';
import { positiveInteger } from './arguments.js';
import { everyPage } from './every-page.js';
import { printJson, printTable } from './output.js';
import { withServices } from './services.js';

/** `plans …` */
export function plansCommand(): Command {
  const plans = new Command('plans')
    .description('plans and their numbers')
    .addHelpText(
      'after',
      '\nExamples:\n  animal-store plans list\n  animal-store plans set startup --per-minute 120 --per-day 3000',
    );
  plans
    .command('list')
    .description('list plans, by name')
    .option('--json', 'print a JSON array, for a program')
    .addHelpText('after', '\nExample:\n  animal-store plans list')
    .action(async ({ json }: { json?: true }) => {
      await withServices(async (services) => {
        const service = services.get(PlanService);
        const all = await everyPage<Plan>(async (limit, last) => {
          const page = await service.page(limit, last?.name);
          return { entries: page.plans, more: page.more };
        });
        if (json) {
          printJson(all);
        } else {
          printPlans(all);
        }
      });
    });
  plans
    .command('set')
    .description('give a plan its numbers, and make it where there is none of this name')
    .argument('<plan>', 'name of the plan')
    .requiredOption('--per-minute <n>', 'requests per minute', positiveInteger)
    .requiredOption('--per-day <n>', 'requests per day', positiveInteger)
    .option('--json', 'print one JSON object, for a program')
    .addHelpText('after', '\nExample:\n  animal-store plans set startup --per-minute 120 --per-day 3000')
    .action(
      async (
        name: string,
        { json, perMinute, perDay }: { json?: true; perMinute: number; perDay: number },
      ) => {
        await withServices(async (services) => {
          const { plan } = await services.get(PlanService).set(name, { perMinute, perDay }, TERMINAL);
          if (json) {
            printJson(plan);
          } else {
            printPlans([plan]);
          }
        });
      },
    );
  return plans;
}

function printPlans(plans: Plan[]): void {
  printTable(
    ['plan', 'per minute', 'per day'],
    plans.map(({ name, perMinute, perDay }) => [name, perMinute ?? 'custom', perDay ?? 'custom']),
  );
}
