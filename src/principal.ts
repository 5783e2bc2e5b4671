import type { FastifyRequest } from 'fastify';
import type { ApiError } from './errors/api-error.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose request it is, as `ApiKeyGuard` found out; null until then. */
    authentication: AuthenticationResult | null;
    /** The client whose key the request has, as it was last known. Only to report its numbers: nobody gets in by it. */
    readonly lastKnownPrincipal: Principal | null;
  }
}

/** What a client may use: its plan's numbers, or its own. Limits, counters and bans belong to it. */
export interface Quota {
  id: string;
  /** The bucket that its requests count in. */
  bucketKey: string;
  plan: string;
  perMinute: number;
  perDay: number;
}

export type KeyRole = 'client' | 'admin';

/** Who sends a request, once its API key is known to be valid. */
export interface Principal {
  keyId: string;
  role: KeyRole;
  /** When the key stops being valid, or null for one that never does. */
  expiresAt: Date | null;
  quota: Quota;
}

/** What the credential of a request says: a client, or why it is none. */
export type AuthenticationResult =
  { principal: Principal; refusal: null } | { principal: null; refusal: ApiError };

/**
 * Returns the client that a handler serves.
 *
 * @throws Error for a route that lets in who is not authenticated.
 */
export function requirePrincipal({ authentication }: Pick<FastifyRequest, 'authentication'>): Principal {
  const principal = authentication?.principal;
  if (!principal) {
    throw new Error('A handler that serves a client must be behind the guard of API keys');
  }
  return principal;
}
