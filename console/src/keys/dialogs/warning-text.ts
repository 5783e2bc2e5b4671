import type { Key } from 'animal-store-client';

/** Returns what may be wrong with a key, as sentences. */
export function warningText(key: Pick<Key, 'warnings'> | null): string {
  return (key?.warnings ?? []).map(({ message }) => message).join(' ');
}
