import { writeFile } from 'node:fs/promises';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '../app.module.js';
import { Clock } from '../clock.js';
import { readEnvironment } from '../environment.js';
import { createDocument, documentText } from '../openapi/document.js';

/** `npm run openapi`: writes `openapi.json` as a service with default settings serves it. Needs no database. */
const environment = readEnvironment({});
const app = await NestFactory.create(AppModule.register(environment, new Clock()), new FastifyAdapter(), {
  logger: ['error', 'warn'],
  abortOnError: false,
});
await writeFile(
  new URL('../../openapi.json', import.meta.url),
  documentText(createDocument(app, environment)),
);
