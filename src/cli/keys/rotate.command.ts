import { Command, Option } from 'commander';
import type { Key } from '../../admin/key.schemas.js';
import { KeyService } from '../../admin/key.service.js';
import { actorOf, type ActorOptions, withActor } from '../actor.js';
import { durationArgument, instantArgument } from '../arguments.js';
import { printLines } from '../output/print.js';
import { withServices } from '../services.js';
import { keyIdOf } from './key-id.js';
import { type Format, printIssued } from './key-output.js';

const OVERLAP_DEFAULT = '24h';

interface RotateOptions extends Format, ActorOptions {
  overlap: number;
  expires?: Date;
}

/** `keys rotate` */
export function rotateCommand(): Command {
  return withActor(new Command('rotate'))
    .description('issue a successor on the same quota; both work until the overlap ends')
    .argument('<id>', 'id of the key')
    .addOption(
      new Option('--overlap <duration>', 'how long both keys work, such as 90s, 30m, 24h, 7d, or 0')
        .argParser(durationArgument)
        .default(durationArgument(OVERLAP_DEFAULT), OVERLAP_DEFAULT),
    )
    .option(
      '--expires <instant>',
      'when the successor expires (default: when the old key was to expire)',
      instantArgument,
    )
    .option('--json', 'print one JSON object, for a program')
    .action(async (id: string, options: RotateOptions) => {
      await withServices(async (services) => {
        const keys = services.get(KeyService);
        const oldId = await keyIdOf(services, id);
        const input = { overlapMs: options.overlap, expiresAt: options.expires };
        printIssued(await keys.rotate(oldId, input, actorOf(options)), options);
        if (!options.json) {
          printLines(endOf(await keys.find(oldId)));
        }
      });
    });
}

/** Returns a sentence on how long the rotated key works. */
function endOf({ state, expiresAt }: Key): string {
  return state === 'rotating' ? `The old key works until ${expiresAt}.` : 'The old key no longer works.';
}
