import { Injectable } from '@nestjs/common';
import type { FastifyRequest, preValidationHookHandler } from 'fastify';
import { SchemaState } from '../../database/migrations/schema-state.js';
import { ApiError } from './api-error.js';
import { AddRouteConfig } from './route-config.decorator.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Serves it even though the database lacks something. */
    needsNoSchema?: true;
  }
}

export const NeedsNoSchema = () => AddRouteConfig({ needsNoSchema: true });

export function schemaNotReady(cause?: unknown): ApiError {
  const message = 'The database is not ready for this version of the service. Try again later.';
  return new ApiError('service_unavailable', message, { cause });
}

/**
 * Denies requests while a migration is pending or the database lacks something else: a statement might fail,
 * or read data of another form.
 */
@Injectable()
export class SchemaHook {
  constructor(private readonly schema: SchemaState) {}

  readonly preValidation: preValidationHookHandler = (request, _reply, done) =>
    done(this.schema.isUsable === false && !isServed(request) ? schemaNotReady() : undefined);
}

/** What needs no key, such as probes and pages, needs no database. */
function isServed({ requiredRole, routeOptions }: FastifyRequest): boolean {
  return requiredRole === null || routeOptions.config.needsNoSchema === true;
}
