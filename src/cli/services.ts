import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AdminServicesModule } from '../admin/admin-services.module.js';
import { Clock } from '../clock.js';
import { DatabaseModule } from '../database/database.module.js';
import { EmbeddedPostgresError } from '../embedded-postgres/embedded-postgres-error.js';
import { findEmbeddedPostgres } from '../embedded-postgres/embedded-postgres.js';
import { type Environment, readProcessEnvironment } from '../environment.js';
import { SettingsModule } from '../settings.module.js';
import { tellFailure } from './failure.js';

class Terminal {}

/** The services of administration on the database of these settings, without HTTP. They are to be closed. */
export function openServices(environment: Environment): Promise<INestApplicationContext> {
  const settings = SettingsModule.register(environment, new Clock());
  return NestFactory.createApplicationContext(
    { module: Terminal, imports: [settings, DatabaseModule, AdminServicesModule] },
    // What fails is told by the failure itself.
    { logger: false, abortOnError: false },
  );
}

/**
 * Does work with the services of administration, on the database of `DATABASE_URL`, else on the embedded one that runs
 * now. A failure is told on standard error, and by exit code 1.
 */
export function withServices(work: (services: INestApplicationContext) => Promise<void>): Promise<void> {
  return tellFailure(async () => {
    const services = await openServices(await databaseEnvironment());
    try {
      await work(services);
    } finally {
      await services.close();
    }
  });
}

/** The settings, with the address of the embedded database that runs now where there is no `DATABASE_URL`. */
export async function databaseEnvironment(): Promise<Environment> {
  const environment = readProcessEnvironment();
  if (environment.DATABASE_URL !== undefined) {
    return environment;
  }
  const url = await findEmbeddedPostgres(environment.DATA_DIR);
  if (url === null) {
    throw new EmbeddedPostgresError(
      `No embedded database runs in ${environment.DATA_DIR}: start the service first ("npm start"), or set DATABASE_URL.`,
    );
  }
  return { ...environment, DATABASE_URL: url };
}
