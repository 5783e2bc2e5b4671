import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../http/routes/api-error.js';
import { usualMessages } from '../http/routes/catalogue.js';
import { requirePrincipal } from './principal.js';
import { KEY_ROLES } from './rules/role.js';
import { addressText, isInNetworks } from '../http/rules/network.js';
import { deniedCredential } from './api-key.strategy.js';
import { hasScope, type Scope } from './rules/scope.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Null or undefined for an operation that every key of its role may call. */
    scope?: Scope | null;
  }
}

/** Denies what an authenticated key may not do, by its role, the caller's address, and its scopes. */
@Injectable()
export class PermissionGuard implements CanActivate {
  /** @throws ApiError `forbidden`, `address_not_allowed` or `insufficient_scope`. */
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { requiredRole } = request;
    if (requiredRole === null) {
      return true;
    }
    const { role, scopes, allowedNetworks } = requirePrincipal(request);
    if (requiredRole === 'admin' && role !== 'admin') {
      throw new ApiError('forbidden', usualMessages.forbidden);
    }
    // A newer release may have stored another role, which may permit less than that of a client.
    if (!(KEY_ROLES as readonly string[]).includes(role)) {
      throw new ApiError('forbidden', `This version of the service supports no keys whose role is ${role}.`);
    }
    // Fastify computes `ip` and `routeOptions` at each access.
    if (allowedNetworks !== null && !isInNetworks(request.ip, allowedNetworks)) {
      const message =
        `This API key may not be used from the address ${addressText(request.ip)}. ` +
        'An administrator can allow its network.';
      throw new ApiError('address_not_allowed', message);
    }
    const { scope } = request.routeOptions.config;
    if (scope) {
      requireScope(scopes, scope);
    }
    return true;
  }
}

/** @throws ApiError `insufficient_scope` if a key with these scopes lacks one. */
export function requireScope(scopes: readonly Scope[] | null, scope: Scope): void {
  if (!hasScope(scopes, scope)) {
    const message = `This API key lacks the scope ${scope}, which the operation needs.`;
    throw deniedCredential('insufficient_scope', message, { error: 'insufficient_scope', scope });
  }
}
