import { Inject, Injectable } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Authenticator } from './auth/authenticator.js';
import { ENVIRONMENT, type Environment } from './settings/environment.js';
import type { ApiError } from './errors/api-error.js';
import { ConcurrencyLimit } from './server/concurrency-limit.js';
import { Connections, SHUTTING_DOWN } from './server/connections.js';
import { RefusedConnections } from './server/refused-connections.js';
import { type Cors, corsOf } from './http/cors.js';
import { revalidate } from './http/entity-tag.js';
import { inTurn } from './server/pipelining.js';
import { requiredRoleOf } from './http/request-path.js';
import { isUnread, RequestBodies, RequestBody } from './http/request-body.js';
import { RESPONSE_INTERCEPTORS, type ResponseInterceptor } from './http/response-interceptor.js';
import { SECURITY_HEADERS } from './http/security-headers.js';
import { RequestMetrics } from './metrics/request-metrics.js';
import { headerNames } from './openapi/headers.js';
import { RateLimiter } from './rate-limit/rate-limiter.js';
import { traceRequests } from './tracing/tracing.js';
import { UsageRecorder } from './usage/usage.recorder.js';

/** A longer body is sent as a `Buffer`, as Node keeps two copies of an unsent string. */
const LARGE_BODY_LENGTH = 16 * 1024;

/** The steps of every request before its guards, and of every response after its handler. */
@Injectable()
export class AppHooks {
  private readonly addCorsHeaders: Cors;

  constructor(
    @Inject(ENVIRONMENT) private readonly environment: Environment,
    private readonly connections: Connections,
    private readonly refusedConnections: RefusedConnections,
    private readonly concurrencyLimit: ConcurrencyLimit,
    private readonly bodies: RequestBodies,
    private readonly authenticator: Authenticator,
    private readonly rateLimiter: RateLimiter,
    @Inject(RESPONSE_INTERCEPTORS) private readonly interceptors: ResponseInterceptor[],
    private readonly usage: UsageRecorder,
    private readonly metrics: RequestMetrics,
  ) {
    // `Allow` is not in the document.
    this.addCorsHeaders = corsOf(environment.CORS_ORIGINS, [...headerNames(), 'Allow']);
  }

  /** Adds the hooks, in the order of a request. */
  async addTo(fastify: FastifyInstance): Promise<void> {
    decorateRequests(fastify, this.authenticator);
    fastify.addHook('onRequest', (request, { raw }, done) => {
      request.requiredRole = requiredRoleOf(request);
      inTurn(raw, () => {
        this.connections.closeIfLast(raw);
        done();
      });
    });
    await traceRequests(fastify, this.environment);
    fastify.addHook('onRequest', (request, reply, done) => {
      if (this.addHeaders(request, reply)) {
        return;
      }
      const error = this.start(request, reply);
      if (error === null) {
        done();
      } else if (isUnread(request.raw)) {
        // A body that arrived with the headers is read first, so that its connection can stay.
        setImmediate(done, error);
      } else {
        done(error);
      }
    });
    fastify.addHook('onSend', (request, reply, payload: unknown, done) => {
      if (request.pendingDecision === null) {
        done(null, this.finish(request, reply, payload));
      } else {
        done(
          new Error('The handler must wait by whenAllowed(), as its operation is served while it is counted'),
        );
      }
    });
    this.connections.startsNoMore.addEventListener('abort', () => this.bodies.abandon(SHUTTING_DOWN));
  }

  /** Adds the headers of every response. Returns true for a preflight request, to which it has responded. */
  private addHeaders(request: FastifyRequest, reply: FastifyReply): boolean {
    reply.header('X-Request-Id', request.id).headers(SECURITY_HEADERS);
    return this.addCorsHeaders(request, reply);
  }

  /** Returns the error of a request that cannot start because the server shuts down or has no free slot; else null. */
  private start(request: FastifyRequest, reply: FastifyReply): ApiError | null {
    if (this.connections.startsNoMore.aborted) {
      return SHUTTING_DOWN;
    }
    if (request.requiredRole === null) {
      return null;
    }
    const error = this.concurrencyLimit.take(request, () => this.rateLimiter.bucketKey(request));
    if (error === null) {
      this.bodies.collect(request, reply);
    }
    return error;
  }

  /** Completes a response, records it, and returns its body. */
  private finish(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
    // First, so that no later fault keeps the slot.
    this.concurrencyLimit.release(request);
    const body = revalidate(request, reply, payload);
    const { socket } = request.raw;
    if (!socket.writable) {
      // A late or malformed body has had its response already; the status is for the metrics and the usage.
      reply.status(this.refusedConnections.sentOn(socket)?.status ?? reply.statusCode);
    }
    const expiresAt = request.authentication?.principal?.expiresAt;
    if (expiresAt) {
      reply.header('X-Api-Key-Expires', expiresAt.toUTCString());
    }
    for (const interceptor of this.interceptors) {
      interceptor.intercept(request, reply);
    }
    if (request.body instanceof RequestBody) {
      request.body.end(null);
    }
    const isDenied = reply.statusCode >= 400 && request.requiredRole !== null;
    if (isDenied && isUnread(request.raw)) {
      reply.header('Connection', 'close');
    }
    this.usage.record(request, reply);
    this.metrics.record(request, reply);
    return typeof body === 'string' && body.length >= LARGE_BODY_LENGTH ? Buffer.from(body) : body;
  }
}

/** Declares the properties of requests, so that all requests have one shape. */
function decorateRequests(fastify: FastifyInstance, authenticator: Authenticator): void {
  fastify
    .decorateRequest('authentication', null)
    .decorateRequest('lastKnownPrincipal', {
      getter() {
        return authenticator.lastKnownPrincipal(this);
      },
    })
    .decorateRequest('decision', null)
    .decorateRequest('pendingDecision', null)
    .decorateRequest('requiredRole', null)
    .decorateRequest('bodyBytes', null)
    .decorateRequest('slot', undefined)
    .decorateRequest('isShed', false)
    .decorateRequest('reportedWindow', null);
}
