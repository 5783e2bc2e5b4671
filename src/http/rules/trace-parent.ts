import type { FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** The identifiers of the request's span, or of its sender's; null if there is none. */
    traceFields: { trace_id: string; span_id: string } | null;
  }
}

/** Version, trace, span and flags (W3C Trace Context, section 3.2). */
const TRACE_PARENT =
  /^(?!ff)[\da-f]{2}-(?!0{32})(?<traceId>[\da-f]{32})-(?!0{16})(?<spanId>[\da-f]{16})-[\da-f]{2}(?:-.*)?$/;

/** The sender's span. */
type TraceParent = Record<'traceId' | 'spanId', string>;

/** Returns the sender's span of a header `traceparent`, or null without a valid one. */
export function parseTraceParent(header: string | string[] | undefined): TraceParent | null {
  const parts = typeof header === 'string' ? TRACE_PARENT.exec(header) : null;
  return (parts?.groups as TraceParent | undefined) ?? null;
}

/** Keeps the identifiers of a span, if any, for every log line of the request. */
export function logTrace(request: FastifyRequest, span: TraceParent | null): void {
  request.traceFields = span && { trace_id: span.traceId, span_id: span.spanId };
}

/** An `onRequest` hook that adds the identifiers of the sender's span, if any, to every log line of the request. */
export function logSenderTrace(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  logTrace(request, parseTraceParent(request.headers['traceparent']));
  done();
}

/** Returns what every log line of a request has. Added by hand, because a child logger for each request costs more than its line. */
export function logFields({ id, traceFields }: FastifyRequest): Record<string, unknown> {
  return { requestId: id, ...traceFields };
}
