import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '../build/app.module.js';
import { Connections } from '../build/http/connections/connections.js';
import { createLogger } from '../build/observability/logger.js';
import { Clock } from '../build/process/clock.js';
import { readEnvironment } from '../build/process/settings/environment.js';

/** Returns the service with the default settings, to read what it declares. It needs no database. */
export async function createUnstartedService() {
  const environment = readEnvironment({});
  const connections = new Connections(environment, await createLogger(environment));
  const module = AppModule.register(environment, new Clock(), connections);
  const app = await NestFactory.create(module, new FastifyAdapter(), {
    logger: ['error', 'warn'],
    abortOnError: false,
  });
  return { app, environment };
}
