import { Command } from 'commander';
import { KeyRateLimit } from '../../admin/key-rate-limit.service.js';
import type { RateLimitStatus } from '../../rate-limit/rate-limit-status.schema.js';
import { printFields, printJson } from '../output/print.js';
import { withServices } from '../services.js';
import { keyIdOf } from './key-id.js';
import type { Format } from './key-output.js';

/** `keys rate-limit` */
export function rateLimitCommand(): Command {
  return new Command('rate-limit')
    .description("show the windows and the ban of a key's quota, without counting against it")
    .argument('<id>', 'id of the key')
    .option('--json', 'print one JSON object, for a program')
    .addHelpText('after', '\nExample:\n  animal-store keys rate-limit 019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11')
    .action(async (id: string, { json }: Format) => {
      await withServices(async (services) => {
        const status = await services.get(KeyRateLimit).statusOf(await keyIdOf(services, id));
        if (json) {
          printJson(status);
        } else {
          printFields(fieldsOf(status));
        }
      });
    });
}

function fieldsOf({ plan, windows, refusalsUntilBan, bannedUntil }: RateLimitStatus) {
  const remaining = windows.map(({ name, limit, remaining: left, reset }): [string, string] => [
    `this ${name}`,
    `${left} of ${limit} requests remain until ${new Date(reset * 1000).toISOString()}`,
  ]);
  return {
    plan,
    ...Object.fromEntries(remaining),
    'refusals until ban': refusalsUntilBan,
    'banned until': bannedUntil,
  };
}
