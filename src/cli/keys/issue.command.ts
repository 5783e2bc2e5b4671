import { Command, Option } from 'commander';
import { KeyService } from '../../admin/key.service.js';
import { actorOf, type ActorOptions, withActor } from '../actor.js';
import { instantArgument, nameArgument, noteArgument } from '../arguments.js';
import { withServices } from '../services.js';
import { type Format, printIssued } from './key-output.js';
import { type OwnLimits, requireBothOrNone, withOwnLimits } from './own-limits.js';

interface IssueOptions extends Format, OwnLimits, ActorOptions {
  name: string;
  note?: string;
  plan: string;
  role: 'client' | 'admin';
  expires?: Date;
}

/** `keys issue` */
export function issueCommand(): Command {
  const command = new Command('issue')
    .description('issue a key with a quota of its own; the key is shown only once')
    .requiredOption('--name <name>', 'name of the key', nameArgument)
    .option('--note <text>', 'note of administrators on the key', noteArgument)
    .requiredOption('--plan <plan>', 'free, pro, business, enterprise, or a plan of your own')
    .addOption(new Option('--role <role>', 'role of the key').choices(['client', 'admin']).default('client'))
    .option('--expires <instant>', 'when it expires, such as 2027-01-01T00:00:00Z', instantArgument);
  return withActor(withOwnLimits(command))
    .option('--json', 'print one JSON object, for a program')
    .addHelpText('after', '\nExample:\n  animal-store keys issue --name "Ann\'s shop" --plan pro')
    .action(async ({ as, json, expires, ...input }: IssueOptions) => {
      requireBothOrNone(input, command);
      await withServices(async (services) => {
        const keys = services.get(KeyService);
        printIssued(await keys.issue({ ...input, expiresAt: expires }, actorOf({ as })), { json });
      });
    });
}
