import type { FastifyRequest } from 'fastify';

/** Where in somebody else's trace a request is: version, trace, span, flags (W3C Trace Context, section 3.2). */
const TRACE_PARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-.*)?$/;

/** The span that a request was sent in. */
export interface TraceParent {
  traceId: string;
  spanId: string;
  flags: number;
}

/** What the header `traceparent` says; null where there is none, or none that holds. */
export function parseTraceParent(header: string | string[] | undefined): TraceParent | null {
  const parts = typeof header === 'string' ? TRACE_PARENT.exec(header) : null;
  if (parts === null) {
    return null;
  }
  const [, traceId = '', spanId = '', flags = ''] = parts;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

/** Adds the identifiers of the span to every log line of the request. */
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
