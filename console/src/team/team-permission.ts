import type { OwnKey } from 'animal-store-client';
import { scopesOfRole, type ScopeChoice } from '../keys/scopes';

/** Returns whether a key may manage the keys of its quota. */
export function managesKeys({ scopes }: Pick<OwnKey, 'scopes'>): boolean {
  return scopes?.includes('keys:write') === true;
}

/** Returns the scopes that a key may give to those that its holder issues. */
export function issuableScopes({ scopes }: Pick<OwnKey, 'scopes'>): ScopeChoice[] {
  return scopesOfRole('client').filter(
    ({ value }) => value !== 'keys:write' && scopes?.includes(value) === true,
  );
}
