import { Command, Option } from 'commander';
import { applyPendingMigrations, resolveMigration } from '../database/migrations.js';
import { reportFailure } from './failure.js';
import { linesText } from './output/text.js';
import { databaseEnvironment } from './services.js';

/** The name of a migration to resolve; at most one of the two is set. */
type Resolved = { applied?: string; rolledBack?: string };

/** `migrate`: does what `npx prisma migrate deploy` and `resolve` do, because the image does not have Prisma's commands. */
export const migrateCommand = new Command('migrate')
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
  .action((resolved: Resolved) =>
    reportFailure(async () => {
      const { DATABASE_URL = '', DIRECT_DATABASE_URL = DATABASE_URL } = await databaseEnvironment();
      process.stdout.write(linesText(...(await migrate(DIRECT_DATABASE_URL, resolved))));
    }),
  );

/** Returns what was done, in lines. */
async function migrate(url: string, { applied, rolledBack }: Resolved): Promise<string[]> {
  if (applied !== undefined) {
    await resolveMigration(url, applied, 'applied');
    return [`The migration ${applied} is recorded as applied.`];
  }
  if (rolledBack !== undefined) {
    await resolveMigration(url, rolledBack, 'rolled-back');
    return [
      `The migration ${rolledBack} is recorded as rolled back. "animal-store migrate" applies it again.`,
    ];
  }
  const names = await applyPendingMigrations(url);
  return [...names.map((name) => `Applied the migration ${name}.`), 'The database is up to date.'];
}
