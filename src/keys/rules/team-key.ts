import { isSubnet, parseNetwork } from '../../http/rules/network.js';
import { type Scope, scopesForRole } from '../../auth/rules/scope.js';

/** What a key may do, from where, and until when. An empty list is no restriction, and null no end. */
export interface KeyBounds {
  scopes: readonly Scope[];
  allowedNetworks: readonly string[];
  expiresAt: Date | null;
}

/** Returns the scopes that a key with these may give to keys that its holder issues. */
export function issuableScopes(scopes: readonly Scope[]): Scope[] {
  return scopesForRole('client').filter((scope) => scope !== 'keys:write' && scopes.includes(scope));
}

/**
 * Returns the bounds of a key that the holder of `issuer` issues: those given, else its own; and what is
 * wrong with those that exceed its own.
 */
export function teamKeyBounds(
  issuer: KeyBounds,
  given: { [Field in keyof KeyBounds]?: KeyBounds[Field] | undefined },
) {
  const issuable = issuableScopes(issuer.scopes);
  const { scopes = issuable, allowedNetworks = issuer.allowedNetworks } = given;
  const { expiresAt = issuer.expiresAt } = given;
  const faults: string[] = [];
  if (scopes.length === 0 || !scopes.every((scope) => issuable.includes(scope))) {
    faults.push(`scopes must be among those that your key may give: ${issuable.join(', ')}`);
  }
  if (!areWithin(allowedNetworks, issuer.allowedNetworks)) {
    faults.push(`allowedNetworks must be within those of your key: ${issuer.allowedNetworks.join(', ')}`);
  }
  if (issuer.expiresAt !== null && (expiresAt === null || expiresAt > issuer.expiresAt)) {
    faults.push(`expiresAt must not be after that of your key: ${issuer.expiresAt.toISOString()}`);
  }
  return { bounds: { scopes: [...scopes], allowedNetworks: [...allowedNetworks], expiresAt }, faults };
}

/** Returns whether a list of networks, empty for anywhere, allows no address that another does not. */
function areWithin(networks: readonly string[], outer: readonly string[]): boolean {
  const outerNetworks = outer.map(parseNetwork);
  return (
    outer.length === 0 ||
    (networks.length > 0 && networks.every((text) => isSubnet(parseNetwork(text), outerNetworks)))
  );
}
