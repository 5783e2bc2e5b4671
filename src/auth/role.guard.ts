import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.js';

/** Allows only administrators' keys under `/admin`, once they are authenticated and counted. */
@Injectable()
export class RoleGuard implements CanActivate {
  /** @throws ApiError `forbidden`. */
  canActivate(context: ExecutionContext): boolean {
    const { requiredRole, authentication } = context.switchToHttp().getRequest<FastifyRequest>();
    if (requiredRole === 'admin' && authentication?.principal?.role !== 'admin') {
      throw new ApiError('forbidden', 'This needs an API key whose role is admin.');
    }
    return true;
  }
}
