import { Command, Option } from 'commander';
import { repairIsolation } from '../database/isolation.js';
import { applyPendingMigrations, type Resolution, resolveMigration } from '../database/migrations.js';
import { tellFailure } from './failure.js';
import { printLines } from './output/print.js';
import { databaseEnvironment } from './services.js';

/** The name of a migration under what was made of it; one of them at the most. */
type Resolved = { applied?: string; rolledBack?: string };

/** `migrate`: what `npx prisma migrate deploy` and `resolve` do, where Prisma's commands are not installed. */
export function migrateCommand(): Command {
  return new Command('migrate')
    .description('apply the migrations that the database lacks, as "npx prisma migrate deploy" does')
    .addOption(
      new Option(
        '--rolled-back <name>',
        'apply none, but record that what a failed one did is undone, so that it is applied again',
      ).conflicts('applied'),
    )
    .option('--applied <name>', 'apply none, but record that a failed one was finished by hand')
    .addHelpText(
      'after',
      '\nGoes to DIRECT_DATABASE_URL where DATABASE_URL is a pooler.\n\nExamples:\n  animal-store migrate\n' +
        '  animal-store migrate --rolled-back 20261121150000_orders',
    )
    .action(({ applied, rolledBack }: Resolved) =>
      tellFailure(async () => {
        const { DATABASE_URL = '', DIRECT_DATABASE_URL = DATABASE_URL } = await databaseEnvironment();
        if (applied !== undefined) {
          await resolve(DIRECT_DATABASE_URL, applied, 'applied');
        } else if (rolledBack !== undefined) {
          await resolve(DIRECT_DATABASE_URL, rolledBack, 'rolled-back');
        } else {
          await migrate(DIRECT_DATABASE_URL, DATABASE_URL);
        }
      }),
    );
}

async function migrate(url: string, serviceUrl: string): Promise<void> {
  const applied = await applyPendingMigrations(url);
  const lines = applied.map((name) => `Applied the migration ${name}.`);
  for (const address of new Set([serviceUrl, url])) {
    lines.push(...(await repairIsolation(address)));
  }
  printLines(...lines, 'The database is up to date.');
}

async function resolve(url: string, name: string, resolution: Resolution): Promise<void> {
  await resolveMigration(url, name, resolution);
  const next = resolution === 'applied' ? '' : ' "animal-store migrate" applies it again.';
  printLines(`The migration ${name} is recorded as ${resolution.replace('-', ' ')}.${next}`);
}
