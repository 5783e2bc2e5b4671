import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '../app.module.js';
import { Connections } from '../http/connections/connections.js';
import { createLogger } from '../observability/logger.js';
import { Clock } from '../process/clock.js';
import { type Environment, readEnvironment } from '../process/settings/environment.js';

/** Returns the service with the default settings, to read what it declares. It needs no database. */
export async function createUnstartedService(): Promise<{ app: INestApplication; environment: Environment }> {
  const environment = readEnvironment({});
  const connections = new Connections(environment, await createLogger(environment));
  const module = AppModule.register(environment, new Clock(), connections);
  const app = await NestFactory.create(module, new FastifyAdapter(), {
    logger: ['error', 'warn'],
    abortOnError: false,
  });
  return { app, environment };
}
