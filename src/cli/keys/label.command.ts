import { Command } from 'commander';
import { KeyService } from '../../admin/key.service.js';
import { actorOf, type ActorOptions, withActor } from '../actor.js';
import { EXIT_USAGE, nameArgument, noteArgument } from '../arguments.js';
import { withServices } from '../services.js';
import { keyIdOf } from './key-id.js';
import { type Format, printKey } from './key-output.js';

interface LabelOptions extends Format, ActorOptions {
  name?: string;
  /** False for `--no-note`. */
  note?: string | false;
}

/** `keys label` */
export function labelCommand(): Command {
  const command = new Command('label')
    .description('set the name of a key and the note on it; what is not given stays')
    .argument('<id>', 'id of the key')
    .option('--name <name>', 'name of the key', nameArgument)
    .option('--note <text>', 'note of administrators on the key', noteArgument)
    .option('--no-note', 'remove the note');
  return withActor(command)
    .option('--json', 'print one JSON object, for a program')
    .addHelpText(
      'after',
      '\nExample:\n  animal-store keys label 019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11 --note "Calls at night"',
    )
    .action(async (id: string, { name, note, ...options }: LabelOptions) => {
      if (name === undefined && note === undefined) {
        command.error('error: give --name, --note or --no-note', { exitCode: EXIT_USAGE });
      }
      await withServices(async (services) => {
        const change = { name, note: note === false ? null : note };
        const key = await services
          .get(KeyService)
          .label(await keyIdOf(services, id), change, actorOf(options));
        printKey(key, options);
      });
    });
}
