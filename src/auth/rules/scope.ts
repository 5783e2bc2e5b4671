import type { KeyRole } from '../../http/request-line.js';

/**
 * What a key may be allowed to do; each operation declares the scope that it needs. Operations on the
 * holder's own account need no scope.
 */
export const SCOPES = [
  'pets:read',
  'pets:write',
  'orders:read',
  'orders:write',
  'admin:read',
  'admin:write',
] as const;
export type Scope = (typeof SCOPES)[number];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Null or undefined for an operation that every key of its role may call. */
    scope?: Scope | null;
  }
}

/** Returns the scopes that keys of a role may have, which is what a key without a set has. */
export function scopesForRole(role: KeyRole): readonly Scope[] {
  return role === 'admin' ? SCOPES : SCOPES.filter((scope) => !scope.startsWith('admin:'));
}
