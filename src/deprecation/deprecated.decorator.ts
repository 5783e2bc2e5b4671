import { applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiOperation } from '@nestjs/swagger';
import { AddRouteConfig } from '../http/route-config.decorator.js';

/** A deprecated operation. Headers, the removal and all documents follow from this one declaration. */
export interface Deprecation {
  since: Date;
  /** From this instant, 00:00 UTC of a day, the operation answers 410. */
  removal: Date;
  /** Path and query of what to call instead, by the method of this operation. */
  replacement: string;
  /** Path of the section that documents the deprecation. */
  docs: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    deprecation?: Deprecation;
  }
}

/**
 * Marks a route as deprecated. Fastify's route configuration carries it, as errors that reach no handler need it
 * too. Stands below `@ApiOperation()`, whose description would else be lost.
 */
export const Deprecated = (deprecation: Deprecation) =>
  applyDecorators(
    AddRouteConfig({ deprecation }),
    ApiOperation({ deprecated: true }),
    ApiExtension('x-deprecated-since', dateOf(deprecation.since)),
    ApiExtension('x-sunset', dateOf(deprecation.removal)),
    ApiExtension('x-replacement', deprecation.replacement),
  );

function dateOf(instant: Date): string {
  return instant.toISOString().slice(0, 10);
}
