import { Command } from 'commander';
import { applyPendingMigrations } from '../database/migrations.js';
import { tellFailure } from './failure.js';
import { databaseEnvironment } from './services.js';

/** `migrate`: what `npx prisma migrate deploy` does, where Prisma's commands are not installed. */
export function migrateCommand(): Command {
  return new Command('migrate')
    .description('apply the migrations that the database lacks, as "npx prisma migrate deploy" does')
    .addHelpText(
      'after',
      '\nGoes to DIRECT_DATABASE_URL where DATABASE_URL is a pooler.\n\nExample:\n  animal-store migrate',
    )
    .action(() =>
      tellFailure(async () => {
        const { DATABASE_URL = '', DIRECT_DATABASE_URL } = await databaseEnvironment();
        const applied = await applyPendingMigrations(DIRECT_DATABASE_URL ?? DATABASE_URL);
        const lines = applied.map((name) => `Applied the migration ${name}.\n`);
        process.stdout.write(`${lines.join('')}The database is up to date.\n`);
      }),
    );
}
