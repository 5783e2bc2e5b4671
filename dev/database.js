import { KeyService } from '../dist/keys/key.service.js';
import { openServices } from '../dist/cli/services.js';
import { applyPendingMigrations } from '../dist/database/migrations/migrations.js';
import { PrismaService } from '../dist/database/access/prisma.service.js';
import { startEmbeddedPostgres } from '../dist/database/migrations/embedded/embedded-postgres.js';
import { seedDemo } from '../dist/start/demo.js';
import { keyList } from '../dist/start/welcome.js';
import { readProcessEnvironment } from '../dist/process/settings/environment.js';

/**
 * Starts the embedded PostgreSQL with the data of the demonstration, unless `DATABASE_URL` is set.
 *
 * @returns the settings with which the service uses it, and a function that stops it.
 */
export async function startDatabase() {
  // The service reports their warnings.
  const environment = readProcessEnvironment([]);
  const { DATABASE_URL, DATA_DIR, APP_ENV, HOST } = environment;
  if (DATABASE_URL !== undefined) {
    return { settings: {}, stop: async () => {} };
  }
  const { url, stop } = await startEmbeddedPostgres(DATA_DIR);
  try {
    await applyPendingMigrations(url);
    const keys = await seed({ ...environment, DATABASE_URL: url });
    process.stdout.write(`${keyList(keys)}\n\n`);
    return { settings: { DATABASE_URL: url, APP_ENV, HOST }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function seed(environment) {
  const services = await openServices(environment);
  try {
    return await seedDemo(services.get(PrismaService), services.get(KeyService), environment);
  } finally {
    await services.close();
  }
}
