import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { RouteShorthandOptions } from 'fastify';
import { addVary } from '../http/responses/vary.js';
import type { Environment } from '../process/settings/environment.js';
import { createDocuments, documentText } from './document.js';
import { REFERENCE_PAGE } from './pages/reference-page.js';
import { serveStaticDocument, type StaticDocument } from './pages/static-document.js';

const REFERENCE = '/docs';
const ACCEPTS_HTML = /\btext\/html\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i;

export function serveDocuments(
  app: NestFastifyApplication,
  environment: Environment,
  hooks: Pick<RouteShorthandOptions, 'onRequest'>,
  webhooks: Parameters<typeof createDocuments>[2],
): void {
  let created: ReturnType<typeof createDocuments> | undefined;
  // They take longer to create than the rest of a start.
  const documents = () => (created ??= createDocuments(app, environment, webhooks));
  const json = (path: string, name: 'store' | 'administration'): StaticDocument => ({
    path,
    type: 'application/json',
    content: () => Buffer.from(documentText(documents()[name])),
  });
  const files = [json('/openapi.json', 'store'), json('/admin-openapi.json', 'administration')];
  const fastify = app.getHttpAdapter().getInstance();
  [...files, ...REFERENCE_PAGE].forEach((each) => serveStaticDocument(fastify, hooks, each));
  fastify.get('/', hooks, (request, reply) => {
    addVary(reply, 'Accept');
    if (ACCEPTS_HTML.test(request.headers.accept ?? '')) {
      return reply.redirect(REFERENCE);
    }
    reply.callNotFound();
    return reply;
  });
}
