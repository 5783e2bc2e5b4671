import { isSubnet, knownNetworks } from '../../http/rules/network.js';
import { hasScope, type Scope, scopesForRole } from '../../auth/rules/scope.js';
import type { KeyRole } from '../../auth/rules/role.js';

/** What a key may do, and from where: null for no restriction, an empty list for nothing and nowhere. */
export interface Restrictions {
  scopes: Scope[] | null;
  allowedNetworks: string[] | null;
}

export interface KeyBounds extends Restrictions {
  expiresAt: Date | null;
}

/** The networks that a key may have. */
export const NETWORKS_MAX = 50;

/**
 * Returns the scopes that a key with these may give to keys that its holder issues. Without a set it gives
 * none, because it lacks `keys:write`.
 */
export function issuableScopes(scopes: readonly Scope[] | null): Scope[] {
  return scopesForRole('client').filter((scope) => scope !== 'keys:write' && scopes?.includes(scope));
}

/**
 * Returns the bounds of a key that the holder of `issuer` issues: those given, else its own; and what is
 * wrong with those that exceed its own.
 */
export function furtherKeyBounds(
  issuer: KeyBounds,
  given: { [Field in keyof KeyBounds]?: KeyBounds[Field] | undefined },
) {
  const issuable = issuableScopes(issuer.scopes);
  const { scopes = issuable, allowedNetworks = issuer.allowedNetworks, expiresAt = issuer.expiresAt } = given;
  const faults: string[] = [];
  if (scopes === null || !scopes.every((scope) => issuable.includes(scope))) {
    faults.push(`scopes must be among those that your key may give: ${issuable.join(', ')}`);
  }
  if (issuer.allowedNetworks !== null && !areWithin(allowedNetworks, issuer.allowedNetworks)) {
    faults.push(`allowedNetworks must be within those of your key: ${issuer.allowedNetworks.join(', ')}`);
  }
  if (issuer.expiresAt !== null && (expiresAt === null || expiresAt > issuer.expiresAt)) {
    faults.push(`expiresAt must not be after that of your key: ${issuer.expiresAt.toISOString()}`);
  }
  return { bounds: { scopes, allowedNetworks, expiresAt }, faults };
}

/**
 * Returns what a key may do, and from where, if it may do no more than another. Two networks have no address
 * in common, or one is within the other.
 */
export function narrow(key: Restrictions & { role: string }, outer: Restrictions) {
  const { scopes, allowedNetworks } = key;
  const ofRole = scopesForRole(key.role as KeyRole);
  const within = (networks: Restrictions['allowedNetworks']) => (text: string) =>
    networks === null || areWithin([text], networks);
  return {
    scopes: outer.scopes?.filter((scope) => ofRole.includes(scope) && hasScope(scopes, scope)) ?? scopes,
    allowedNetworks:
      outer.allowedNetworks === null
        ? allowedNetworks
        : [
            ...new Set([
              ...(allowedNetworks ?? []).filter(within(outer.allowedNetworks)),
              ...outer.allowedNetworks.filter(within(allowedNetworks)),
            ]),
            // Two full lists may have more networks in common than a key may have: it then has fewer.
          ].slice(0, NETWORKS_MAX),
  };
}

/** Returns whether a list of networks, null for anywhere, allows no address that another does not. */
function areWithin(networks: readonly string[] | null, outer: readonly string[]): boolean {
  const outerNetworks = knownNetworks(outer);
  // One that the issuer has may be in a form that only a newer release can parse.
  const isWithin = (text: string) =>
    outer.includes(text) || knownNetworks([text]).some((network) => isSubnet(network, outerNetworks));
  return networks?.every(isWithin) ?? false;
}
