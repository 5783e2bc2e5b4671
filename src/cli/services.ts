import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../app.module.js';
import { AuditModule } from '../audit/audit.module.js';
import { Clock } from '../process/clock.js';
import { DatabaseModule } from '../database/database.module.js';
import { findEmbeddedPostgres } from '../database/migrations/embedded/embedded-postgres.js';
import { OperatorError } from '../process/operator-error.js';
import { type Environment, readProcessEnvironment } from '../process/settings/environment.js';
import { RoutesModule } from '../http/routes/routes.module.js';
import { KeysModule } from '../keys/keys.module.js';
import { SettingsModule } from '../process/settings/settings.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';

class Terminal {}

/** Opens the services of administration, without HTTP. The caller closes them. */
export async function openServices(environment: Environment): Promise<INestApplicationContext> {
  const settings = SettingsModule.register(environment, new Clock());
  const routes = RoutesModule.register(AppModule);
  return NestFactory.createApplicationContext(
    {
      module: Terminal,
      imports: [settings, routes, DatabaseModule, KeysModule, UsageModule, AuditModule, WebhooksModule],
    },
    // The command reports the error of a failed start itself.
    { logger: false, abortOnError: false },
  );
}

/** Returns the settings, with the URL of the running embedded database if they name none. */
export async function databaseEnvironment(): Promise<Environment> {
  const warnings: string[] = [];
  const environment = readProcessEnvironment(warnings);
  warnings.forEach((warning) => process.stderr.write(`${warning}\n`));
  if (environment.DATABASE_URL !== undefined) {
    return environment;
  }
  const url = await findEmbeddedPostgres(environment.DATA_DIR);
  if (url === null) {
    throw new OperatorError(
      `No embedded database runs in ${environment.DATA_DIR}: ` +
        'start the service first ("npm start"), or set DATABASE_URL.',
    );
  }
  return { ...environment, DATABASE_URL: url };
}
