import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { onRequestHookHandler } from 'fastify';
import { DocumentRateLimit } from '../rate-limit/document-rate-limit.js';
import { UnsentResponses } from '../server/unsent-responses.js';

/** Returns the hooks of routes that serve documents: they need no key, and are limited by address. */
export function documentHooks(app: NestFastifyApplication): { onRequest: onRequestHookHandler } {
  const rateLimit = app.get(DocumentRateLimit);
  const unsentResponses = app.get(UnsentResponses);
  return {
    onRequest: (request, reply, done) => {
      unsentResponses.leaveOut(reply.raw);
      done(request.ambiguity ?? rateLimit.check(request) ?? undefined);
    },
  };
}
