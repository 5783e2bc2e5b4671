import { existsSync } from 'node:fs';
import { createApplication } from './application.js';
import { KeyService } from './auth/key.service.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres/embedded-postgres.js';
import { applyPendingMigrations } from './database/migrations.js';
import { PrismaService } from './database/prisma.service.js';
import { type Environment, readEnvironment } from './environment.js';
import { reasonOf } from './failure.js';
import { type DemoKeys, seedDemo } from './seed/demo.js';

/** Starts what the settings ask for: the environment, the database, the application. Ends with the process. */
async function main(): Promise<void> {
  if (existsSync('.env')) {
    process.loadEnvFile();
  }
  const settings = readEnvironment(process.env);
  const embedded =
    settings.DATABASE_URL === undefined ? await startEmbeddedPostgres(settings.DATA_DIR) : null;
  try {
    const environment = { ...settings, DATABASE_URL: embedded?.url ?? settings.DATABASE_URL };
    if (environment.NODE_ENV !== 'production') {
      await applyPendingMigrations(environment.DATABASE_URL ?? '');
    }
    const demoKeys = embedded === null ? null : await fillDemo(environment);
    await serve(environment, embedded, demoKeys);
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

async function fillDemo(environment: Environment): Promise<DemoKeys> {
  const prisma = new PrismaService(environment);
  try {
    return await seedDemo(prisma, new KeyService(prisma, environment), environment);
  } finally {
    await prisma.$disconnect();
  }
}

async function serve(
  environment: Environment,
  embedded: EmbeddedPostgres | null,
  demoKeys: DemoKeys | null,
): Promise<void> {
  const app = await createApplication(environment);
  await app.listen(environment.PORT, environment.HOST);
  const address = await app.getUrl();
  let stopping: Promise<void> | null = null;
  const stop = () => {
    stopping ??= app
      .close()
      .then(() => embedded?.stop())
      .catch(fail);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.stdout.write(
    demoKeys === null ? `Animal Store listens on ${address}\n` : welcome(address, demoKeys),
  );
}

function welcome(address: string, keys: DemoKeys): string {
  const lines = Object.entries(keys).map(([name, key]) => `  ${name.padEnd(11)} ${key}`);
  return `
Animal Store listens on ${address}, with a PostgreSQL of its own.
  reference   ${address}/docs
  health      ${address}/readyz

Keys of this demonstration, one for each plan:
${lines.join('\n')}

Try it:
  curl -i -H 'Authorization: Bearer ${keys.free}' '${address}/v1/pets?limit=3'

`;
}

function fail(error: unknown): void {
  process.stderr.write(`${reasonOf(error)}\n`);
  process.exitCode = 1;
}

await main().catch(fail);
