import { CommanderError } from 'commander';
import { VERSION } from '../process/version.js';
import { auditCommand } from './audit.command.js';
import { group } from './command.js';
import { keysCommand } from './keys.command.js';
import { migrateCommand } from './migrate.command.js';
import { plansCommand } from './plans.command.js';
import { probeCommand } from './probe.command.js';
import { requestsCommand } from './requests.command.js';
import { quotasCommand } from './quotas.command.js';
import { seedCommand } from './seed.command.js';
import { deprecationsCommand, usageCommand } from './usage.command.js';
import { webhooksCommand } from './webhooks.command.js';

/** @public `dev/names.js` lists its commands. */
export const program = group(
  'animal-store',
  'Administers the animal store in the database of DATABASE_URL or the running embedded database.',
  [
    keysCommand,
    quotasCommand,
    plansCommand,
    usageCommand,
    requestsCommand,
    auditCommand,
    deprecationsCommand,
    webhooksCommand,
    migrateCommand,
    seedCommand,
    probeCommand,
  ],
)
  .version(VERSION, '--version', 'print the version')
  .addHelpText(
    'after',
    '\nIn a checkout, run "npm run -s admin --" instead of "animal-store":\n' +
      '  npm run -s admin -- keys issue --name "Ann\'s shop" --plan pro\n' +
      '\nExit codes: 0 success, 1 failure (the reason is on standard error), 2 wrong usage.',
  )
  // Otherwise an option after two commands would be read as that of the first.
  .enablePositionalOptions();

/** Runs `animal-store` with these arguments, and sets the exit code of the process. */
export async function runAnimalStore(args: string[]): Promise<void> {
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) {
      throw error;
    }
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  }
}
