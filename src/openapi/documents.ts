import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { onRequestHookHandler } from 'fastify';
import type { Environment } from '../environment.js';
import { UnsentResponses } from '../http/unsent-responses.js';
import { DocumentRateLimit } from '../rate-limit/document-rate-limit.js';
import { createDocuments, documentText } from './document.js';
import { referencePage } from './reference-page.js';
import { serveStaticDocument, type StaticDocument } from './static-document.js';

/** Serves the OpenAPI documents, and a page to read and try them at `/docs`. */
export function serveDocuments(app: NestFastifyApplication, environment: Environment): void {
  const { store, administration } = createDocuments(app, environment);
  // Requests of the page go to the server that the page came from.
  const servers = [{ url: '/v1', description: 'This server' }, ...(store.servers ?? [])];
  const documents = [
    documentAt('/openapi.json', store),
    documentAt('/admin-openapi.json', administration),
    ...referencePage({ ...store, servers }),
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

function documentAt(path: string, document: OpenAPIObject): StaticDocument {
  return { path, type: 'application/json', content: Buffer.from(documentText(document)) };
}
