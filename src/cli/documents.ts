import { writeFile } from 'node:fs/promises';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '../app.module.js';
import { Clock } from '../clock.js';
import { readEnvironment } from '../environment.js';
import { deprecationsText } from '../openapi/deprecations.js';
import { createDocument, documentText } from '../openapi/document.js';

/** `npm run documents`: writes what follows from the routes' declarations, with default settings. Needs no database. */
const environment = readEnvironment({});
const app = await NestFactory.create(AppModule.register(environment, new Clock()), new FastifyAdapter(), {
  logger: ['error', 'warn'],
  abortOnError: false,
});
const document = createDocument(app, environment);
await writeFile(new URL('../../openapi.json', import.meta.url), documentText(document));
await writeFile(new URL('../../docs/deprecations.md', import.meta.url), deprecationsText(document));
