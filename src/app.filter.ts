import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isDatabaseUnavailable } from './database/availability.js';
import { ApiError } from './errors/api-error.js';
import { RefusedConnections } from './http/refused-connections.js';
import { CounterStoreError } from './rate-limit/counter-store.js';

/** Responds to whatever is thrown on the request path, with the one error body. */
@Catch()
@Injectable()
export class AppFilter implements ExceptionFilter {
  constructor(private readonly refusedConnections: RefusedConnections) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    // Where its body was late or malformed, the client has its response already, and this is for the records alone.
    const error = this.refusedConnections.toldOn(request.raw.socket) ?? exception;
    void reply.send(formatError(error, request, reply));
  }
}

/** Logs an error, puts its status and headers on the response, and returns the body. */
export function formatError(exception: unknown, request: FastifyRequest, reply: FastifyReply): string {
  const error = apiErrorOf(exception, request);
  logError(error, request);
  reply
    .status(error.status)
    .headers(error.headers)
    .header('Cache-Control', 'no-store')
    .type('application/json; charset=utf-8');
  return JSON.stringify(error.body);
}

/** An unavailable service is no defect, and every request logs it while it lasts: so without a stack. Without a cause, it is logged where it is thrown. */
function logError(error: ApiError, { log }: FastifyRequest): void {
  if (error.code === 'service_unavailable') {
    if (error.cause instanceof Error) {
      log.warn({ reason: error.cause.message }, error.message);
    }
  } else if (error.status >= 500) {
    log.error({ err: error.cause }, error.message);
  }
}

function apiErrorOf(exception: unknown, { id }: FastifyRequest): ApiError {
  if (exception instanceof ApiError) {
    return exception;
  }
  const away = whatIsAway(exception);
  if (away !== null) {
    const message = `${away} away or overloaded. Try again shortly.`;
    return new ApiError('service_unavailable', message, { cause: exception });
  }
  const message = `Something went wrong on our side. Tell us the request id ${id} if it goes on.`;
  return new ApiError('internal_error', message, { cause: exception });
}

/** What a response could not be made without, with its verb; null where nothing is away. */
function whatIsAway(exception: unknown): string | null {
  if (exception instanceof CounterStoreError) {
    return 'The counters, which know the bans, are';
  }
  return isDatabaseUnavailable(exception) ? 'The database is' : null;
}
