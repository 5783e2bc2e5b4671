import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  Inject,
  Injectable,
  NotFoundException,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { databaseReason, isDatabaseUnavailable, isSchemaFault } from '../../database/access/availability.js';
import { ApiError, type ErrorBody } from './api-error.js';
import { UnavailableError } from '../../database/access/unavailable-error.js';
import { ENVIRONMENT, type Environment } from '../../process/settings/environment.js';
import { publicPrefix } from '../../process/settings/public-prefix.js';
import { targetPath } from './request-line.js';
import { schemaNotReady } from './schema.hook.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The error that its response reports; null if it reports none. */
    failure: ErrorBody | null;
  }
}

/** Responds to every error that is thrown on the request path. */
@Catch()
@Injectable()
export class ErrorFilter implements ExceptionFilter {
  /** The path of the reference, as clients have it. */
  private readonly docs: string;

  constructor(@Inject(ENVIRONMENT) environment: Environment) {
    this.docs = `${publicPrefix(environment)}/docs`;
  }

  async catch(exception: unknown, host: ArgumentsHost): Promise<void> {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    // If a read that failed was denied too, its client gets the denial.
    const thrown = await Promise.resolve(request.pendingDecision).then(
      () => exception,
      (denial: unknown) => denial,
    );
    const error = toApiError(thrown, request, this.docs);
    request.failure = toBody(error, request);
    logError(error, request);
    void reply
      .status(error.status)
      .headers(error.headers)
      .header('Cache-Control', 'no-store')
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(request.failure));
  }
}

/** Logs `service_unavailable` without a stack: it is no defect. Without a cause, its origin has logged it. */
function logError(error: ApiError, { id, traceFields, log }: FastifyRequest): void {
  const fields = { requestId: id, ...traceFields };
  if (error.code === 'service_unavailable') {
    if (error.cause instanceof Error) {
      log.warn({ ...fields, reason: databaseReason(error.cause) }, error.message);
    }
  } else if (error.status >= 500) {
    log.error({ ...fields, err: error.cause }, error.message);
  }
}

function toApiError(exception: unknown, { originalUrl }: FastifyRequest, docs: string): ApiError {
  if (exception instanceof ApiError) {
    return exception;
  }
  if (exception instanceof NotFoundException) {
    const message = `There is nothing at ${targetPath(originalUrl)}. The operations are listed at ${docs}.`;
    return new ApiError('not_found', message);
  }
  if (isSchemaFault(exception)) {
    return schemaNotReady(exception);
  }
  if (exception instanceof UnavailableError || isDatabaseUnavailable(exception)) {
    const store = exception instanceof UnavailableError ? exception.store : 'The database';
    const message = `${store} is unavailable or overloaded. Try again shortly.`;
    return new ApiError('service_unavailable', message, { cause: exception });
  }
  return new ApiError('internal_error', 'Something went wrong on our side.', { cause: exception });
}

/** Returns the body of an error. That of a 5xx quotes the request id, by which it is found. */
function toBody({ body, status, code }: ApiError, { id, requiredRole }: FastifyRequest): ErrorBody {
  // Probes need no key, so their requests are not kept.
  const isFound = status >= 500 && (requiredRole !== null || code === 'internal_error');
  const advice = `If the problem persists, contact us and quote request id ${id}.`;
  return isFound ? { ...body, message: `${body.message} ${advice}` } : body;
}
