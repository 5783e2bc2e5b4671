import { Command } from 'commander';
import { KeyListing } from '../../admin/key-listing.service.js';
import { withServices } from '../services.js';
import { keyIdOf } from './key-id.js';
import { type Format, printKey } from './key-output.js';

/** `keys show` */
export function showCommand(): Command {
  return new Command('show')
    .description('show everything about a key, and its usage, except the key itself')
    .argument('<id>', 'id of the key')
    .option('--json', 'print one JSON object, for a program')
    .action(async (id: string, format: Format) => {
      await withServices(async (services) => {
        printKey(await services.get(KeyListing).find(await keyIdOf(services, id)), format);
      });
    });
}
