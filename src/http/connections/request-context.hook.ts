import type { onRequestHookHandler } from 'fastify';
import { SECURITY_HEADERS } from '../responses/security-headers.js';
import { parseTraceParent } from '../rules/trace-parent.js';

/** Sets what later steps read of a request, and adds the headers that every response has. */
export const setRequestContext: onRequestHookHandler = (request, reply, done) => {
  const { traceparent } = request.headers;
  if (typeof traceparent === 'string') {
    request.traceFields = parseTraceParent(traceparent);
  }
  reply.header('X-Request-Id', request.id).headers(SECURITY_HEADERS);
  done();
};
