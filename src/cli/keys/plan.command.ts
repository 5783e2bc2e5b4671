import { Command } from 'commander';
import { KeyService } from '../../admin/key.service.js';
import { actorOf, type ActorOptions, withActor } from '../actor.js';
import { limitsText } from '../limits-text.js';
import { confirm } from '../output/confirmation.js';
import { withServices } from '../services.js';
import { keyIdOf } from './key-id.js';
import { type Format, keyText, printKey } from './key-output.js';
import { type OwnLimits, requireBothOrNone, withOwnLimits } from './own-limits.js';

interface PlanOptions extends Format, OwnLimits, ActorOptions {
  yes?: true;
}

/** `keys plan` */
export function planCommand(): Command {
  const command = withActor(withOwnLimits(new Command('plan')))
    .description("put a key's quota on a plan; the counts of the current windows are kept")
    .argument('<id>', 'id of the key')
    .argument('<plan>', 'name of the plan')
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'print one JSON object, for a program');
  return command
    .addHelpText(
      'after',
      '\nExamples:\n  animal-store keys plan 019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11 pro\n' +
        '  animal-store keys plan 019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11 enterprise --per-minute 5000 --per-day 1000000',
    )
    .action(async (id: string, plan: string, options: PlanOptions) => {
      requireBothOrNone(options, command);
      await withServices(async (services) => {
        const keys = services.get(KeyService);
        const key = await keys.find(await keyIdOf(services, id));
        const { perMinute, perDay } = options;
        const own =
          perMinute !== undefined && perDay !== undefined ? `, ${limitsText({ perMinute, perDay })}` : '';
        await confirm(
          `Move ${keyText(key)} from plan ${key.plan}, ${limitsText(key)}, to plan ${plan}${own}?`,
          options,
        );
        printKey(await keys.changePlan(key.id, { plan, perMinute, perDay }, actorOf(options)), options);
      });
    });
}
