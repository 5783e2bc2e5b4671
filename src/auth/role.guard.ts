import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.js';

/** Allows administrators' keys alone. Stands behind the guards that authenticate and count. */
@Injectable()
export class RoleGuard implements CanActivate {
  /** @throws ApiError `forbidden`. */
  canActivate(context: ExecutionContext): boolean {
    if (context.switchToHttp().getRequest<FastifyRequest>().authentication?.principal?.role !== 'admin') {
      throw new ApiError('forbidden', 'This needs an API key whose role is admin.');
    }
    return true;
  }
}
