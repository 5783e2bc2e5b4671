import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  Inject,
  Injectable,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Authenticator } from './auth/authenticator.js';
import { expiryHeader } from './auth/expiry-header.js';
import { Gate } from './auth/gate.js';
import { isProtected } from './auth/protected-path.js';
import { Clock } from './clock.js';
import { isDatabaseUnavailable } from './database/availability.js';
import { lifecycleError } from './deprecation/lifecycle.js';
import { ENVIRONMENT, type Environment } from './environment.js';
import { ApiError } from './errors/api-error.js';
import { AllowedMethods } from './http/allowed-methods.js';
import { ConcurrencyLimit } from './http/concurrency-limit.js';
import { pathAskedFor } from './http/path-asked-for.js';
import { RefusedConnections } from './http/refused-connections.js';
import { CounterStoreError } from './rate-limit/counter-store.js';
import { rateLimitHeaders } from './rate-limit/headers.js';

/**
 * Answers every request that no handler answered, with the one error body and with the headers that the
 * guards would have set. Whatever went wrong, a request under a protected path is judged first: without
 * a key malformed JSON is 401, not 400.
 */
@Catch()
@Injectable()
export class AppFilter implements ExceptionFilter {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly gate: Gate,
    private readonly clock: Clock,
    private readonly concurrencyLimit: ConcurrencyLimit,
    private readonly allowedMethods: AllowedMethods,
    private readonly refusedConnections: RefusedConnections,
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'EXPERIMENTAL'>,
  ) {}

  async catch(exception: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    await this.answer(exception, http.getRequest(), http.getResponse());
  }

  /** Also called for what the router itself refuses, which reaches no filter. */
  async answer(exception: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const judged = await this.judge(exception, request, reply);
    // Where its body was late or malformed, the client has been told so already, and this is for the records alone.
    const error = this.refusedConnections.toldOn(request.raw.socket) ?? judged;
    if (error.code === 'service_unavailable') {
      // Not a defect, and told by every request while it lasts: no stack. Without a cause it is told by who refused.
      if (error.cause instanceof Error) {
        request.log.warn({ reason: error.cause.message }, error.message);
      }
    } else if (error.status >= 500) {
      request.log.error({ err: error.cause }, error.message);
    }
    tell(error, reply);
  }

  /** Answers who is not judged, at once and at as little cost as can be. */
  sendAway(error: ApiError, request: FastifyRequest, reply: FastifyReply): void {
    reply.headers(rateLimitHeaders(this.gate.lastKnown(request)));
    tell(error, reply);
  }

  private async judge(exception: unknown, request: FastifyRequest, reply: FastifyReply): Promise<ApiError> {
    try {
      const refusal = await this.refusal(request, reply);
      return refusal ?? (request.is404 ? this.noSuchRoute(request) : explain(exception, request));
    } catch (failure) {
      if (isProtected(request) && !reply.hasHeader('X-RateLimit-Limit')) {
        // It could not be judged, and so not be counted.
        reply.headers(rateLimitHeaders(this.gate.lastKnown(request)));
      }
      return explain(failure, request);
    }
  }

  /**
   * Why the request goes no further whatever it asks for, in the order of the contract; sets the headers that tell of
   * its key and its limits.
   *
   * @throws ApiError `service_unavailable` where it is not judged now; the database's error.
   */
  private async refusal(request: FastifyRequest, reply: FastifyReply): Promise<ApiError | null> {
    if (isProtected(request) && !request.uncounted) {
      const overload = this.concurrencyLimit.take(request, reply);
      if (overload !== null) {
        throw overload;
      }
      const { client } = await this.authenticator.authenticate(request);
      if (client !== null) {
        reply.headers(expiryHeader(client));
      }
      const { admission, refusal } = await this.gate.judge(request);
      reply.headers(rateLimitHeaders(admission));
      if (refusal !== null) {
        return refusal;
      }
    }
    const { method, routeOptions } = request;
    return lifecycleError(routeOptions.config, method, this.clock.now(), this.environment.EXPERIMENTAL);
  }

  private noSuchRoute(request: FastifyRequest): ApiError {
    const path = pathAskedFor(request.url);
    const methods = this.allowedMethods.of(path);
    // A route of many files answers the method, and still has nothing at this path.
    if (methods.length === 0 || methods.includes(request.method)) {
      return new ApiError('not_found', `There is nothing at ${path}. The operations are listed at /docs.`);
    }
    const Allow = methods.join(', ');
    const message = `${path} does not answer ${request.method}. It answers ${Allow}.`;
    return new ApiError('method_not_allowed', message, { headers: { Allow } });
  }
}

function tell({ status, headers, body }: ApiError, reply: FastifyReply): void {
  void reply
    .status(status)
    .headers(headers)
    .header('Cache-Control', 'no-store')
    .type('application/json')
    .send(JSON.stringify(body));
}

/** What the client is told of an error that was thrown on the way. */
function explain(exception: unknown, request: FastifyRequest): ApiError {
  if (exception instanceof ApiError) {
    return exception;
  }
  if (exception instanceof HttpException && exception.getStatus() < 500) {
    return explainRefusal(exception, request);
  }
  if (isBrokenRequest(exception)) {
    return new ApiError('invalid_request', 'The body did not arrive whole.');
  }
  const away = whatIsAway(exception);
  if (away !== null) {
    const message = `${away} away or overloaded. Try again shortly.`;
    return new ApiError('service_unavailable', message, { cause: exception });
  }
  const message = `Something went wrong on our side. Tell us the request id ${request.id} if it goes on.`;
  return new ApiError('internal_error', message, { cause: exception });
}

/** What an answer could not be given without, with its verb; null where nothing is away. */
function whatIsAway(exception: unknown): string | null {
  if (exception instanceof CounterStoreError) {
    return 'The counters, which know the bans, are';
  }
  return isDatabaseUnavailable(exception) ? 'The database is' : null;
}

/** Whether the client's connection broke off while its body was read: a fault of the request's, not of the database's socket. */
function isBrokenRequest(exception: unknown): boolean {
  return exception instanceof Error && 'statusCode' in exception && exception.statusCode === 400;
}

/** Fastify's refusals of a body or a path, which NestJS wraps. */
function explainRefusal(exception: HttpException, request: FastifyRequest): ApiError {
  const tooLarge = Number(request.headers['content-length']) > request.routeOptions.bodyLimit;
  switch (exception.getStatus()) {
    case 403:
    case 404:
    case 414:
      return new ApiError('not_found', 'There is nothing at this path. The operations are listed at /docs.');
    case 413:
    case 415:
      // Fastify looks at the type first; what no type could mend is told first.
      return exception.getStatus() === 413 || tooLarge
        ? new ApiError('payload_too_large', 'The body is larger than 64 KiB.')
        : new ApiError(
            'unsupported_media_type',
            'The body must be JSON, with the header Content-Type: application/json.',
          );
    default:
      return new ApiError('invalid_request', `The request is invalid: ${exception.message}.`);
  }
}
