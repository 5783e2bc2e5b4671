import type { FastifyRequest } from 'fastify';
import { parseTraceParent } from './trace-parent.js';

/** Has every line of the request's log tell the span that it belongs to. */
export function logTrace(
  request: FastifyRequest,
  { traceId, spanId }: { traceId: string; spanId: string },
): void {
  request.log = request.log.child({ trace_id: traceId, span_id: spanId });
}

/** The same with the span that the request was sent in, if any. */
export function logSendersTrace(request: FastifyRequest): void {
  const sender = parseTraceParent(request.headers['traceparent']);
  if (sender !== null) {
    logTrace(request, sender);
  }
}
