import type { onRequestHookHandler } from 'fastify';
import { SECURITY_HEADERS } from '../responses/security-headers.js';
import { parseTraceParent } from '../rules/trace-parent.js';

/** Sets the sender's trace, and adds the headers that every response has. */
export const setRequestContext: onRequestHookHandler = (request, reply, done) => {
  const { traceparent } = request.headers;
  if (typeof traceparent === 'string') {
    request.traceFields = parseTraceParent(traceparent);
  }
  reply.header('X-Request-Id', request.id).headers(SECURITY_HEADERS);
  done();
};
