import type { Key } from 'animal-store-client';

/** What a key may be allowed to do. */
type Scope = NonNullable<Key['scopes']>[number];

const SCOPES: { value: Scope; label: string }[] = [
  { value: 'pets:read', label: 'Read animals' },
  { value: 'pets:write', label: 'Add animals' },
  { value: 'orders:read', label: 'Read orders' },
  { value: 'orders:write', label: 'Place orders' },
  { value: 'admin:read', label: 'Read administration' },
  { value: 'admin:write', label: 'Change keys and plans' },
];

/** Returns the scopes that keys of a role may have. */
export function scopesOfRole(role: string) {
  return SCOPES.filter(({ value }) => role === 'admin' || !value.startsWith('admin:'));
}

/** Returns what a key with scopes cannot do of what its role may, such as "add animals, place orders"; an empty text for nothing. */
export function deniedText({ role, scopes }: Pick<Key, 'role' | 'scopes'>): string {
  const denied = scopesOfRole(role).filter(({ value }) => scopes?.includes(value) === false);
  return denied.map(({ label }) => label.toLowerCase()).join(', ');
}
