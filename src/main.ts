import { setTimeout as pause } from 'node:timers/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { KeyService } from './admin/keys/key.service.js';
import { createApplication } from './app.js';
import { startEmbeddedPostgres } from './embedded-postgres/embedded-postgres.js';
import { migrateIfThere, migrateOnceThere } from './database/migrations.js';
import { PrismaService } from './database/prisma.service.js';
import { type Environment, InvalidEnvironmentError, readProcessEnvironment } from './settings/environment.js';
import { describeFailure } from './failure.js';
import { Connections } from './server/connections.js';
import { seedDemo } from './seed/demo.js';
import { welcome } from './seed/welcome.js';
import { stopSignal } from './server/stop-signal.js';

/** Starts the database and the application, serves until a stop signal, and stops them in reverse order. */
async function main(): Promise<void> {
  const settings = readProcessEnvironment();
  // First, so that a signal during the start also leads to an orderly stop.
  const stop = stopSignal(settings.SHUTDOWN_GRACE);
  const stopRequested = new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()));
  const embedded =
    settings.DATABASE_URL === undefined ? await startEmbeddedPostgres(settings.DATA_DIR) : null;
  try {
    const environment = { ...settings, DATABASE_URL: embedded?.url ?? settings.DATABASE_URL };
    const { DATABASE_URL = '', DIRECT_DATABASE_URL = DATABASE_URL, NODE_ENV } = environment;
    const isMigrated = NODE_ENV === 'production' || (await migrateIfThere(DIRECT_DATABASE_URL));
    const app = await createApplication(environment);
    try {
      if (stop.aborted) {
        return;
      }
      const demoKeys =
        embedded === null ? null : await seedDemo(app.get(PrismaService), app.get(KeyService), environment);
      const address = await listen(app, environment);
      process.stdout.write(
        demoKeys === null ? `Animal Store listens on ${address}\n` : welcome(address, demoKeys),
      );
      if (!isMigrated) {
        await migrateOnceThere(DIRECT_DATABASE_URL, stop);
      }
      await stopRequested;
      app.get(Connections).drain();
      // Load balancers notice meanwhile that the replica is no longer ready.
      await pause(environment.SHUTDOWN_DELAY);
    } finally {
      await app.close();
    }
    // Requests that were cut off are already logged.
    process.exitCode = app.get(Connections).cutOff > 0 ? 1 : 0;
  } finally {
    await embedded?.stop();
  }
}

/** @throws InvalidEnvironmentError if the service cannot listen on this address. */
async function listen(app: NestFastifyApplication, { HOST, PORT }: Environment): Promise<string> {
  try {
    await app.listen(PORT, HOST);
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new InvalidEnvironmentError(`HOST ${HOST} and PORT ${PORT} cannot be listened on: ${reason}`, {
      cause,
    });
  }
  return app.getUrl();
}

await main().catch((error: unknown) => {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exitCode = 1;
});
