import type { CurrentKey } from 'animal-store-client';
import { hasScope, scopesOfRole, type ScopeChoice } from '../keys/scopes';

/** Returns whether a key may manage the keys of its quota. */
export function managesKeys(key: Pick<CurrentKey, 'scopes'>): boolean {
  return hasScope(key, 'keys:write');
}

/** Returns the scopes that a key may give to those that its holder issues. */
export function issuableScopes({ scopes }: Pick<CurrentKey, 'scopes'>): ScopeChoice[] {
  return scopesOfRole('client').filter(
    ({ value }) => value !== 'keys:write' && scopes?.includes(value) === true,
  );
}
