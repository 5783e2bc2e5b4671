import type { FastifyRequest } from 'fastify';
import type { ApiError } from '../http/routes/api-error.js';
import type { Network } from '../http/rules/network.js';
import type { KeyRole } from './rules/role.js';
import type { Scope } from './rules/scope.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The result of `ApiKeyGuard`; null before. */
    authentication: AuthenticationResult | null;
    /** However outdated: only to report its limits, never to authenticate. */
    readonly lastKnownPrincipal: Principal | null;
  }
}

/** The limits of a client: its plan's, or its own. Counters and bans belong to a quota. */
export interface Quota {
  id: string;
  plan: string;
  perMinute: number;
  perDay: number;
}

/** The sender of a request with a valid API key. */
export interface Principal {
  keyId: string;
  role: KeyRole;
  /** What the key may do; null for all that its role may. */
  scopes: readonly Scope[] | null;
  /** From where the key may be used; null for anywhere. */
  allowedNetworks: readonly Network[] | null;
  expiresAt: Date | null;
  quota: Quota;
}

/** What is recorded of the key of a request, valid or not. It permits nothing. */
export interface KnownKey {
  keyId: string;
  /** Without its plan if the key is denied, because its address is limited then. */
  quota: Pick<Quota, 'id'> & Partial<Pick<Quota, 'plan'>>;
}

export type AuthenticationResult =
  | { principal: Principal; denial: null }
  /** The key is null unless it is known, but suspended or ended. */
  | { principal: null; denial: ApiError; deniedKey: KnownKey | null };

/**
 * Returns the key of a request, only to record it: as authenticated or denied, or as last known if the
 * request was refused before.
 */
export function findKnownKey(request: FastifyRequest): KnownKey | null {
  const { authentication } = request;
  if (authentication === null) {
    return request.lastKnownPrincipal;
  }
  return authentication.principal === null ? authentication.deniedKey : authentication.principal;
}

/** @throws Error for a route that requires no API key. */
export function requirePrincipal({ authentication }: Pick<FastifyRequest, 'authentication'>): Principal {
  const principal = authentication?.principal;
  if (!principal) {
    throw new Error('A route that needs a principal must be behind ApiKeyGuard');
  }
  return principal;
}
