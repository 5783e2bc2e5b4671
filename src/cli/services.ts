import { Global, type INestApplicationContext, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AdminServicesModule } from '../admin/admin-services.module.js';
import { AuditController } from '../admin/audit/audit.controller.js';
import { KeysController } from '../admin/keys/keys.controller.js';
import { PlansController } from '../admin/plans/plans.controller.js';
import { UsageController } from '../admin/usage/usage.controller.js';
import { HealthController } from '../health/health.controller.js';
import { OperationScopes } from '../http/operation-scopes.js';
import { OrdersController } from '../orders/orders.controller.js';
import { PetsController } from '../pets/pets.controller.js';
import { Clock } from '../settings/clock.js';
import { DatabaseModule } from '../database/database.module.js';
import { EmbeddedPostgresError, findEmbeddedPostgres } from '../embedded-postgres/embedded-postgres.js';
import { type Environment, readProcessEnvironment } from '../settings/environment.js';
import { SettingsModule } from '../settings/settings.module.js';

const CONTROLLERS = [
  PetsController,
  OrdersController,
  KeysController,
  PlansController,
  UsageController,
  AuditController,
  HealthController,
];

class Terminal {}

/** Has the scopes of operations, which the application has from its routes. */
@Global()
@Module({
  providers: [
    {
      provide: OperationScopes,
      useFactory: () => {
        const scopes = new OperationScopes();
        CONTROLLERS.forEach((controller) => scopes.addController(controller));
        return scopes;
      },
    },
  ],
  exports: [OperationScopes],
})
class ScopesModule {}

/** Opens the services of administration on the database of these settings, without HTTP. The caller closes them. */
export function openServices(environment: Environment): Promise<INestApplicationContext> {
  const settings = SettingsModule.register(environment, new Clock());
  return NestFactory.createApplicationContext(
    { module: Terminal, imports: [settings, DatabaseModule, ScopesModule, AdminServicesModule] },
    // The error of a failure is enough.
    { logger: false, abortOnError: false },
  );
}

/** Returns the settings. Without `DATABASE_URL`, it is set to the URL of the running embedded database. */
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
