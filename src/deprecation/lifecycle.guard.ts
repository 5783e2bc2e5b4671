import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Clock } from '../clock.js';
import { ENVIRONMENT, type Environment } from '../environment.js';
import { lifecycleError } from './lifecycle.js';

/** Lets pass what is there: not what is experimental where that is not offered, nor what was removed. */
@Injectable()
export class LifecycleGuard implements CanActivate {
  constructor(
    @Inject(ENVIRONMENT) private readonly environment: Pick<Environment, 'EXPERIMENTAL'>,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError `not_found`, or `endpoint_removed` from the removal on. */
  canActivate(context: ExecutionContext): boolean {
    const { method, routeOptions } = context.switchToHttp().getRequest<FastifyRequest>();
    const error = lifecycleError(
      routeOptions.config,
      method,
      this.clock.now(),
      this.environment.EXPERIMENTAL,
    );
    if (error !== null) {
      throw error;
    }
    return true;
  }
}
