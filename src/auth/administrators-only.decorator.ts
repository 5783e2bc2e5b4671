import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  UseGuards,
} from '@nestjs/common';
import { ApiForbiddenResponse } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import { requirePrincipal } from '../http/principal.js';

@Injectable()
class RoleGuard implements CanActivate {
  /** @throws ApiError `forbidden`. */
  canActivate(context: ExecutionContext): boolean {
    if (requirePrincipal(context.switchToHttp().getRequest<FastifyRequest>()).role !== 'admin') {
      throw new ApiError('forbidden', 'This needs an API key whose role is admin.');
    }
    return true;
  }
}

/** Allows only administrators' keys, once they are authenticated and counted. */
export const AdministratorsOnly = () => applyDecorators(UseGuards(RoleGuard), ApiForbiddenResponse());
