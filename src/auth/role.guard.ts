import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import { isAdministrative } from './protected-path.js';

/** Lets only administrators' keys pass under /admin. Stands behind the guards that authenticate and count. */
@Injectable()
export class RoleGuard implements CanActivate {
  /** @throws ApiError `forbidden`. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (isAdministrative(request) && (await request.caller)?.client?.role !== 'admin') {
      throw forbidden();
    }
    return true;
  }
}

/** What a client's key is told under /admin. */
export function forbidden(): ApiError {
  return new ApiError('forbidden', 'This needs an API key whose role is admin.');
}
