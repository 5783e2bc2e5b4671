import { applyPendingMigrations, findUnknownMigrations } from '../database/migrations/migrations.js';
import { TerminalCommand } from './command.js';
import { reportFailure } from './failure.js';
import { linesText } from './output/text.js';
import { databaseEnvironment } from './services.js';

/** Does what `npx prisma migrate deploy` does: the image does not have Prisma's commands. */
export const migrateCommand = new TerminalCommand(
  'migrate',
  "apply the pending migrations of this release to the database's tables",
)
  .addHelpText(
    'after',
    '\nRun it before you start a new release. It changes nothing if the database is up to date. The service' +
      '\nmigrates its embedded database by itself.\n' +
      '\nUses DIRECT_DATABASE_URL if it is set, because DATABASE_URL is then a pooler.' +
      '\nIn a checkout, "npx prisma migrate deploy" does the same.',
  )
  .action(() =>
    reportFailure(async () => {
      const { DATABASE_URL = '', DIRECT_DATABASE_URL = DATABASE_URL } = await databaseEnvironment();
      const names = await applyPendingMigrations(DIRECT_DATABASE_URL);
      const lines = names.map((name) => `Applied the migration ${name}.`);
      const others = await findUnknownMigrations(DIRECT_DATABASE_URL);
      const newer = `It also has migrations of another release, which stay: ${others.join(', ')}.`;
      lines.push('The database is up to date.', ...(others.length > 0 ? [newer] : []));
      process.stdout.write(linesText(...lines));
    }),
  );
