import { Command } from 'commander';
import { KeyService } from '../../admin/key.service.js';
import { withServices } from '../services.js';
import { keyIdOf } from './key-id.js';
import { type Format, printKey } from './key-output.js';

/** `keys show` */
export function showCommand(): Command {
  return new Command('show')
    .description('show everything about a key except the key itself')
    .argument('<id>', 'id of the key')
    .option('--json', 'print one JSON object, for a program')
    .addHelpText('after', '\nExample:\n  animal-store keys show 019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11')
    .action(async (id: string, format: Format) => {
      await withServices(async (services) => {
        printKey(await services.get(KeyService).find(await keyIdOf(services, id)), format);
      });
    });
}
