import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { KeyService } from './keys/key.service.js';
import { createApplication } from './app.js';
import { startEmbeddedPostgres } from './database/migrations/embedded/embedded-postgres.js';
import { applyPendingMigrations } from './database/migrations/migrations.js';
import { PrismaService } from './database/access/prisma.service.js';
import { type Environment, readProcessEnvironment } from './process/settings/environment.js';
import { describeFailure } from './start/describe-failure.js';
import { logMissingKeys } from './start/first-key.js';
import { Readiness } from './observability/readiness.js';
import { MetricsServer } from './observability/metrics.server.js';
import { Connections } from './http/connections/connections.js';
import { seedDemo } from './start/demo.js';
import { welcome } from './start/welcome.js';
import { listenOn, ownLoopback } from './http/connections/listen.js';
import { standardError, standardOutput, unblockStandardStreams } from './process/standard-stream.js';
import { stopSignal } from './process/stop-signal.js';

/** The share of `SHUTDOWN_GRACE` for which the last lines of the log may wait for their reader. */
const LOG_SHARE = 0.1;

/** Starts the database and the application, serves until a stop signal, and stops them in reverse order. */
async function main(): Promise<void> {
  const warnings: string[] = [];
  const settings = readProcessEnvironment(warnings, warnings);
  // First, so that a signal during the start also leads to an orderly stop.
  const stop = stopSignal(settings.SHUTDOWN_GRACE);
  const stopRequested = new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()));
  const embedded =
    settings.DATABASE_URL === undefined ? await startEmbeddedPostgres(settings.DATA_DIR) : null;
  try {
    const environment = { ...settings, DATABASE_URL: embedded?.url ?? settings.DATABASE_URL };
    if (embedded !== null) {
      await applyPendingMigrations(embedded.url);
    }
    const app = await createApplication(environment);
    const logger = new Logger('Settings');
    warnings.forEach((warning) => logger.warn(warning));
    try {
      if (stop.aborted) {
        return;
      }
      const demoKeys =
        embedded === null ? null : await seedDemo(app.get(PrismaService), app.get(KeyService), environment);
      const address = await listen(app, environment);
      standardOutput.write(welcome(address, app.get(MetricsServer).port, demoKeys));
      if (demoKeys === null) {
        void logMissingKeys(app.get(Readiness), app.get(PrismaService), stop);
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
    await standardOutput.drain(settings.SHUTDOWN_GRACE * LOG_SHARE);
  }
}

/** Returns an address at which the service then listens. @throws OperatorError if it cannot listen. */
async function listen(app: NestFastifyApplication, { HOST, PORT }: Environment): Promise<string> {
  const place = { host: HOST, port: PORT, setting: 'PORT' } as const;
  await listenOn(app.getHttpServer(), place, (address) => app.listen(PORT, address));
  const url = await app.getUrl();
  // A machine may listen on `::` without having ::1.
  return HOST === '::' && ownLoopback()[0] === '127.0.0.1' ? url.replace('[::1]', '127.0.0.1') : url;
}

unblockStandardStreams();
await main().catch((error: unknown) => {
  standardError.write(`${describeFailure(error)}\n`);
  process.exitCode = 1;
});
