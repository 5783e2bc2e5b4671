import { writeFile } from 'node:fs/promises';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '../app.module.js';
import { createLogger } from '../logging/logger.js';
import { Connections } from '../server/connections.js';
import { Clock } from '../settings/clock.js';
import { readEnvironment } from '../settings/environment.js';
import { createDocuments, documentText } from '../openapi/document.js';

/** `npm run documents`: generates the documents from the routes' declarations and the default settings, without a database. */
const environment = readEnvironment({});
const connections = new Connections(environment, createLogger(environment));
const module = AppModule.register(environment, new Clock(), connections);
const app = await NestFactory.create(module, new FastifyAdapter(), {
  logger: ['error', 'warn'],
  abortOnError: false,
});
const { store, administration } = createDocuments(app, environment);
for (const [file, document] of Object.entries({
  'openapi.json': store,
  'admin-openapi.json': administration,
})) {
  await writeFile(new URL(`../../${file}`, import.meta.url), documentText(document));
}
