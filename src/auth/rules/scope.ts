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

/**
 * What a key without a list of scopes may do, within its role. Nothing is ever added, so that such a key
 * keeps what it could do: an administrator gives it a later scope by a list.
 */
const SCOPES_WITHOUT_LIST: readonly Scope[] = [
  'pets:read',
  'pets:write',
  'orders:read',
  'orders:write',
  'admin:read',
  'admin:write',
];
/** The scopes that a key has only if its list names them. */
export const LISTED_SCOPES = SCOPES.filter((scope) => !SCOPES_WITHOUT_LIST.includes(scope));

/** Returns whether a key with these scopes has `scope`. An empty list has none; null stands for no list. */
export function hasScope(scopes: readonly Scope[] | null, scope: Scope): boolean {
  return (scopes ?? SCOPES_WITHOUT_LIST).includes(scope);
}

export function scopesForRole(role: KeyRole): readonly Scope[] {
  return role === 'admin' ? SCOPES : SCOPES.filter((scope) => !scope.startsWith('admin:'));
}
