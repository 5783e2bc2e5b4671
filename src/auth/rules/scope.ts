import type { KeyRole } from './role.js';

/**
 * What a key may be allowed to do; each operation declares the scope that it needs. Operations on the
 * holder's own account need no scope.
 */
export const SCOPES = [
  'pets:read',
  'pets:write',
  'orders:read',
  'orders:write',
  'keys:write',
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

/**
 * Returns whether a key with these scopes has `scope`. An empty set has none. Without a set, null, it has all
 * but `keys:write`; a new scope that creates credentials or reads other customers' data must be excluded
 * likewise, because old keys without a set would get it.
 */
export function hasScope(scopes: readonly Scope[] | null, scope: Scope): boolean {
  return scopes === null ? scope !== 'keys:write' : scopes.includes(scope);
}

/** Returns the scopes that keys of a role may have. */
export function scopesForRole(role: KeyRole): readonly Scope[] {
  return role === 'admin' ? SCOPES : SCOPES.filter((scope) => !scope.startsWith('admin:'));
}
