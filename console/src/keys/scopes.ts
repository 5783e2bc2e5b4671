import type { Key, NewKey } from 'animal-store-client';

/** What a key may be allowed to do. */
export type Scope = NonNullable<NewKey['scopes']>[number];

const LABELS: Record<Scope, string> = {
  'pets:read': 'Read animals',
  'pets:write': 'Add animals',
  'orders:read': 'Read orders',
  'orders:write': 'Place orders',
  'keys:write': 'Manage keys of its quota',
  'admin:read': 'Read administration',
  'admin:write': 'Change keys and plans',
};

/** A scope, and what it allows in words. */
export interface ScopeChoice {
  value: Scope;
  label: string;
}

const SCOPES: ScopeChoice[] = Object.entries(LABELS).map(([value, label]) => ({
  value: value as Scope,
  label,
}));

/** Returns whether a key has a scope. Without a set, it has all of its role but `keys:write`. */
export function hasScope({ scopes }: Pick<Key, 'scopes'>, scope: Scope): boolean {
  return scopes === null ? scope !== 'keys:write' : scopes.includes(scope);
}

/** Returns what a scope allows, within a sentence, such as "add animals". */
export function scopeText(scope: Scope): string {
  return LABELS[scope].toLowerCase();
}

/** Returns the scopes that keys of a role may have. */
export function scopesOfRole(role: string): ScopeChoice[] {
  return SCOPES.filter(({ value }) => role === 'admin' || !value.startsWith('admin:'));
}

/**
 * Returns what a key with scopes cannot do of what its role may, such as "add animals, place orders"; an
 * empty text for nothing. A role does not include `keys:write`.
 */
export function deniedText({ role, scopes }: Pick<Key, 'role' | 'scopes'>): string {
  const granted = scopesOfRole(role).filter(({ value }) => hasScope({ scopes: null }, value));
  const denied = granted.filter(({ value }) => !hasScope({ scopes }, value));
  return denied.map(({ value }) => scopeText(value)).join(', ');
}
