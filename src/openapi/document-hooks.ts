import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { onRequestHookHandler, RouteShorthandOptions } from 'fastify';
import { DocumentRateLimit } from '../rate-limit/document-rate-limit.js';
import { UnsentResponses } from '../server/unsent-responses.js';

/** The hooks of routes that need no key, and are limited by address. */
export interface DocumentHooks {
  /** Of routes whose response is made for each request. */
  dynamic: Pick<RouteShorthandOptions, 'onRequest'>;
  /** Of routes whose response is in memory once for all clients. */
  static: Pick<RouteShorthandOptions, 'onRequest'>;
}

/** Returns the hooks of routes that serve documents. */
export function documentHooks(app: NestFastifyApplication): DocumentHooks {
  const rateLimit = app.get(DocumentRateLimit);
  const unsentResponses = app.get(UnsentResponses);
  const limit: onRequestHookHandler = (request, _reply, done) => done(rateLimit.check(request) ?? undefined);
  const leaveOut: onRequestHookHandler = (_request, reply, done) => {
    unsentResponses.leaveOut(reply.raw);
    done();
  };
  return { dynamic: { onRequest: limit }, static: { onRequest: [limit, leaveOut] } };
}
