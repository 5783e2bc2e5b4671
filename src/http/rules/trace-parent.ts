declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The identifiers of the request's span, or of its sender's, for every log line of the request; null if
     * there is none.
     */
    traceFields: TraceFields | null;
  }
}

type TraceFields = Record<'trace_id' | 'span_id', string>;

/** Version, trace, span and flags (W3C Trace Context, section 3.2). */
const TRACE_PARENT =
  /^(?!ff)[\da-f]{2}-(?!0{32})(?<trace_id>[\da-f]{32})-(?!0{16})(?<span_id>[\da-f]{16})-[\da-f]{2}(?:-.*)?$/;

/** Returns the identifiers of the sender's span in a header `traceparent`, or null if it is invalid. */
export function parseTraceParent(header: string): TraceFields | null {
  const { groups } = TRACE_PARENT.exec(header) ?? {};
  return (groups as TraceFields | undefined) ?? null;
}
