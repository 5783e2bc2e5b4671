import { Command } from 'commander';
import { KeyService } from '../../admin/key.service.js';
import { actorOf, type ActorOptions, withActor } from '../actor.js';
import { withServices } from '../services.js';
import { keyIdOf } from './key-id.js';
import { type Format, printKey } from './key-output.js';

/** `keys unban` */
export function unbanCommand(): Command {
  return withActor(new Command('unban'))
    .description('end the ban of a key immediately')
    .argument('<id>', 'id of the key')
    .option('--json', 'print one JSON object, for a program')
    .action(async (id: string, options: Format & ActorOptions) => {
      await withServices(async (services) => {
        const keyId = await keyIdOf(services, id);
        printKey(await services.get(KeyService).unban(keyId, actorOf(options)), options);
      });
    });
}
