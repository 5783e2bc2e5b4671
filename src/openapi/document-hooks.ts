import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { RouteShorthandOptions } from 'fastify';
import { DocumentRateLimit } from '../rate-limit/document-rate-limit.js';

/** The hooks of routes that need no key, and are limited by address. */
export type DocumentHooks = Pick<RouteShorthandOptions, 'onRequest'>;

/** Returns the hooks of routes that serve documents. */
export function documentHooks(app: NestFastifyApplication): DocumentHooks {
  const rateLimit = app.get(DocumentRateLimit);
  return { onRequest: (request, _reply, done) => done(rateLimit.check(request) ?? undefined) };
}
