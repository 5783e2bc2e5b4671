import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Clock } from '../clock.js';
import { HandlerFact } from '../http/handler-fact.js';
import type { Deprecation } from './deprecated.decorator.js';
import { removalError } from './removal.js';

/** Ends a deprecated operation when its time has come. */
@Injectable()
export class RemovalGuard implements CanActivate {
  private readonly deprecation = new HandlerFact<Deprecation | null>(
    (context) => context.switchToHttp().getRequest<FastifyRequest>().routeOptions.config.deprecation ?? null,
  );

  constructor(private readonly clock: Clock) {}

  /** @throws ApiError `endpoint_removed` from the removal on. */
  canActivate(context: ExecutionContext): boolean {
    const deprecation = this.deprecation.of(context);
    const error = deprecation && removalError(deprecation, this.clock.now());
    if (error !== null) {
      throw error;
    }
    return true;
  }
}
