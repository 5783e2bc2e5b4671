import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Environment } from '../environment.js';
import { createDocument, documentText } from './document.js';
import { serveReferencePage } from './reference-page.js';

/** Serves the OpenAPI document at `/openapi.json`, and a page to read and try it at `/docs`. */
export function serveDocuments(app: NestFastifyApplication, environment: Environment): void {
  const document = createDocument(app, environment);
  const text = documentText(document);
  app.getHttpAdapter().get('/openapi.json', (_request: unknown, reply: FastifyReply) => {
    void reply.type('application/json').send(text);
  });
  // What is tried on the page goes to the server that the page came from.
  const here = (url: string, servers: OpenAPIObject['servers'] = []) => [
    { url, description: 'This server' },
    ...servers,
  ];
  const paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, item]) => [
      path,
      item.servers === undefined ? item : { ...item, servers: here('/', item.servers) },
    ]),
  );
  serveReferencePage(app, { ...document, paths, servers: here('/v1', document.servers) });
}
