import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type TextMapGetter,
  type Tracer,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { loggablePath, withoutKeys } from '../http/rules/loggable.js';
import { addressText } from '../http/rules/network.js';
import { knownMethod, routePath, routeTemplate, urlScheme } from '../http/routes/request-line.js';

/** Reads the sender's headers, which spans repeat, but none that has an API key. */
const HEADERS_WITHOUT_KEYS: TextMapGetter<FastifyRequest['headers']> = {
  keys: (headers) => defaultTextMapGetter.keys(headers),
  get: (headers, name) => {
    const text = String(headers[name] ?? '');
    return withoutKeys(text) === text ? headers[name] : undefined;
  },
};

/**
 * Creates a span for each request of a protected path, in the client's trace if it sends one.
 *
 * @returns the context of the current request, for the spans of its queries.
 */
export function addRequestSpans(fastify: FastifyInstance, tracer: Tracer): AsyncLocalStorage<Context> {
  const contexts = new AsyncLocalStorage<Context>();
  const propagator = new W3CTraceContextPropagator();
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.requiredRole === null) {
      done();
      return;
    }
    const sender = propagator.extract(ROOT_CONTEXT, request.headers, HEADERS_WITHOUT_KEYS);
    const span = start(request, tracer, sender);
    const { traceId, spanId } = span.spanContext();
    request.traceFields = { trace_id: traceId, span_id: spanId };
    if (!span.isRecording()) {
      // Its queries then have no spans either.
      done();
      return;
    }
    if (reply.raw.req.socket.destroyed || reply.raw.closed) {
      end(span, reply);
    } else {
      reply.raw.once('close', () => end(span, reply));
    }
    contexts.run(trace.setSpan(sender, span), done);
  });
  return contexts;
}

/** By OpenTelemetry's semantic conventions for HTTP. */
function start(request: FastifyRequest, tracer: Tracer, sender: Context): Span {
  const { method, routeOptions } = request;
  const known = knownMethod(method);
  const attributes = {
    'http.request.method': known,
    'http.request.method_original': known === method ? undefined : method,
    'url.path': loggablePath(request),
    'url.scheme': urlScheme(request.protocol),
    'client.address': addressText(request.ip),
    'http.response.header.x-request-id': [request.id],
    'http.route': routeTemplate(routePath(routeOptions)) || undefined,
  };
  const name = routeOptions.config.operation ?? (known === method ? method : 'HTTP');
  return tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, sender);
}

function end(span: Span, { statusCode, raw }: FastifyReply): void {
  if (raw.headersSent) {
    span.setAttribute('http.response.status_code', statusCode);
  }
  if (!raw.writableFinished || statusCode >= 500) {
    const failure = raw.writableFinished ? String(statusCode) : 'client_gone';
    span.setAttribute('error.type', failure).setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}
