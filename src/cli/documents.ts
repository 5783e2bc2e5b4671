import { writeFile } from 'node:fs/promises';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '../app.module.js';
import { Clock } from '../settings/clock.js';
import { readEnvironment } from '../settings/environment.js';
import { deprecationsText } from '../openapi/deprecations.js';
import { createDocuments, documentText } from '../openapi/document.js';

/** `npm run documents`: generates the documents from the routes' declarations and the default settings, without a database. */
const environment = readEnvironment({});
const app = await NestFactory.create(AppModule.register(environment, new Clock()), new FastifyAdapter(), {
  logger: ['error', 'warn'],
  abortOnError: false,
});
const { store, administration } = createDocuments(app, environment);
const texts = {
  'openapi.json': documentText(store),
  'admin-openapi.json': documentText(administration),
  'docs/deprecations.md': deprecationsText([store, administration]),
};
for (const [path, text] of Object.entries(texts)) {
  await writeFile(new URL(`../../${path}`, import.meta.url), text);
}
