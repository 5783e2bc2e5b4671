import { Command } from 'commander';
import { KeyService } from '../../admin/key.service.js';
import { actorOf, type ActorOptions, withActor } from '../actor.js';
import { confirm } from '../output/confirmation.js';
import { withServices } from '../services.js';
import { keyIdOf } from './key-id.js';
import { type Format, keyText, printKey } from './key-output.js';

/** `keys revoke` */
export function revokeCommand(): Command {
  return withActor(new Command('revoke'))
    .description('revoke a key immediately and permanently')
    .argument('<id>', 'id of the key')
    .option('--yes', 'do not ask for confirmation')
    .option('--json', 'print one JSON object, for a program')
    .action(async (id: string, options: Format & ActorOptions & { yes?: true }) => {
      await withServices(async (services) => {
        const keys = services.get(KeyService);
        const key = await keys.find(await keyIdOf(services, id));
        if (key.revokedAt === null) {
          await confirm(`Revoke ${keyText(key)} immediately and permanently?`, options);
        }
        printKey(await keys.revoke(key.id, actorOf(options)), options);
      });
    });
}
