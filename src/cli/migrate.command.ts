import { Command, Option } from 'commander';
import { applyPendingMigrations, type Resolution, resolveMigration } from '../database/migrations.js';
import { reportFailure } from './failure.js';
import { printLines } from './output/print.js';
import { databaseEnvironment } from './services.js';

/** The name of a migration to resolve; at most one of the two is set. */
type Resolved = { applied?: string; rolledBack?: string };

/** `migrate`: does what `npx prisma migrate deploy` and `resolve` do, because the image does not have Prisma's commands. */
export function migrateCommand(): Command {
  return new Command('migrate')
    .description('apply the pending migrations, as "npx prisma migrate deploy" does')
    .addOption(
      new Option(
        '--rolled-back <name>',
        'apply nothing; record that a failed migration was undone by hand, so that it is applied again',
      ).conflicts('applied'),
    )
    .option('--applied <name>', 'apply nothing; record that a failed migration was finished by hand')
    .addHelpText(
      'after',
      '\nUses DIRECT_DATABASE_URL if it is set, since DATABASE_URL is then a pooler.\n\n' +
        'Example:\n  animal-store migrate --rolled-back 20261123000000_init',
    )
    .action(({ applied, rolledBack }: Resolved) =>
      reportFailure(async () => {
        const { DATABASE_URL = '', DIRECT_DATABASE_URL = DATABASE_URL } = await databaseEnvironment();
        if (applied !== undefined) {
          await resolve(DIRECT_DATABASE_URL, applied, 'applied');
        } else if (rolledBack !== undefined) {
          await resolve(DIRECT_DATABASE_URL, rolledBack, 'rolled-back');
        } else {
          await migrate(DIRECT_DATABASE_URL);
        }
      }),
    );
}

async function migrate(url: string): Promise<void> {
  const applied = await applyPendingMigrations(url);
  printLines(...applied.map((name) => `Applied the migration ${name}.`), 'The database is up to date.');
}

async function resolve(url: string, name: string, resolution: Resolution): Promise<void> {
  await resolveMigration(url, name, resolution);
  const next = resolution === 'applied' ? '' : ' "animal-store migrate" applies it again.';
  printLines(`The migration ${name} is recorded as ${resolution.replace('-', ' ')}.${next}`);
}
