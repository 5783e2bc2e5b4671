import { writeFile } from 'node:fs/promises';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '../app.module.js';
import { createLogger } from '../observability/logger.js';
import { Connections } from '../http/connections.js';
import { Clock } from '../settings/clock.js';
import { readEnvironment } from '../settings/environment.js';
import { createDocuments, documentText } from '../openapi/document.js';
import { documentEvents } from '../webhooks/document-events.js';

/**
 * The first step of `npm run documents`: generates the documents from the routes' declarations and the
 * default settings, without a database.
 */
const environment = readEnvironment({});
const connections = new Connections(environment, await createLogger(environment));
const module = AppModule.register(environment, new Clock(), connections);
const app = await NestFactory.create(module, new FastifyAdapter(), {
  logger: ['error', 'warn'],
  abortOnError: false,
});
const { store, administration } = createDocuments(app, environment, documentEvents());
const root = new URL('../../', import.meta.url);
await writeFile(new URL('openapi.json', root), documentText(store));
await writeFile(new URL('admin-openapi.json', root), documentText(administration));
