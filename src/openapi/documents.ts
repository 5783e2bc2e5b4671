import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { onRequestHookHandler } from 'fastify';
import type { Environment } from '../environment.js';
import { UnsentResponses } from '../http/unsent-responses.js';
import { DocumentRateLimit } from '../rate-limit/document-rate-limit.js';
import { createDocument, documentText } from './document.js';
import { referencePage } from './reference-page.js';
import { serveStaticDocument } from './static-document.js';

/** Serves the OpenAPI document at `/openapi.json`, and a page to read and try it at `/docs`. */
export function serveDocuments(app: NestFastifyApplication, environment: Environment): void {
  const document = createDocument(app, environment);
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
  const tried = { ...document, paths, servers: here('/v1', document.servers) };
  const documents = [
    { path: '/openapi.json', type: 'application/json', content: Buffer.from(documentText(document)) },
    ...referencePage(tried),
  ];
  const rateLimit = app.get(DocumentRateLimit);
  const unsentResponses = app.get(UnsentResponses);
  const onRequest: onRequestHookHandler = (request, reply, done) => {
    unsentResponses.leaveOut(reply.raw);
    done(request.ambiguity ?? rateLimit.check(request) ?? undefined);
  };
  const fastify = app.getHttpAdapter().getInstance();
  documents.forEach((each) => serveStaticDocument(fastify, { onRequest }, each));
}
