import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DatabaseClock } from '../database/access/database-clock.js';
import { ENVIRONMENT, type Environment } from '../process/settings/environment.js';
import { publicPrefix } from '../process/settings/public-prefix.js';
import { lifecycleError } from './rules/lifecycle.js';

/**
 * Denies requests to operations that are removed, or experimental and not offered. `@Deprecated()` and
 * `@Operation()` put it behind the global guards.
 */
@Injectable()
export class LifecycleGuard implements CanActivate {
  constructor(
    @Inject(ENVIRONMENT) private readonly environment: Environment,
    private readonly clock: DatabaseClock,
  ) {}

  /** @throws ApiError `not_found`, or `endpoint_removed` from the removal on. */
  canActivate(context: ExecutionContext): boolean {
    const { method, params, routeOptions } = context.switchToHttp().getRequest<FastifyRequest>();
    const error = lifecycleError(
      routeOptions.config,
      { method, parameters: params as Record<string, string> },
      this.clock.now(),
      {
        offersExperimental: this.environment.EXPERIMENTAL,
        publicPrefix: publicPrefix(this.environment),
      },
    );
    if (error !== null) {
      throw error;
    }
    return true;
  }
}
