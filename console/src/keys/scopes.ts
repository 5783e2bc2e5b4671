import type { Key } from 'animal-store-client';
import type { KeyRole } from '../../../src/auth/rules/role';
import { hasScope as listHasScope, type Scope, scopesForRole } from '../../../src/auth/rules/scope';

export type { Scope };

/** The labels of scopes whose name does not say it; `orders:read` is labelled "Read orders" by its name. */
const LABELS: Partial<Record<Scope, string>> = {
  'pets:read': 'Read animals',
  'pets:write': 'Add animals',
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

/** Returns whether a key has a scope, by its list or without one. */
export function hasScope({ scopes }: Pick<Key, 'scopes'>, scope: Scope): boolean {
  return listHasScope(scopes as Scope[] | null, scope);
}

/** Returns what a scope allows, within a sentence, such as "add animals". */
export function scopeText(scope: Scope): string {
  return scopeLabel(scope).toLowerCase();
}

/** Returns the scopes that keys of a role may have. */
export function scopesOfRole(role: string): ScopeChoice[] {
  return scopesForRole(role as KeyRole).map((value) => ({ value, label: scopeLabel(value) }));
}

/**
 * Returns what a key with scopes cannot do of what its role may, such as "add animals, place orders"; an
 * empty text for nothing. A role does not include what only a list gives, such as `keys:write`.
 */
export function deniedText({ role, scopes }: Pick<Key, 'role' | 'scopes'>): string {
  const granted = scopesOfRole(role).filter(({ value }) => hasScope({ scopes: null }, value));
  const denied = granted.filter(({ value }) => !hasScope({ scopes }, value));
  return denied.map(({ value }) => scopeText(value)).join(', ');
}

function scopeLabel(scope: Scope): string {
  const [resource = '', action = ''] = scope.split(':');
  return LABELS[scope] ?? `${action.charAt(0).toUpperCase()}${action.slice(1)} ${resource}`;
}
