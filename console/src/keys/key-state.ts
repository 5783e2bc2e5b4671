import type { Key } from 'animal-store-client';

/** The maximum number of live keys of a quota. */
export const VALID_KEYS_MAX = 20;

type WithState = Pick<Key, 'state'>;

/** Returns whether requests with a key are allowed. */
export function isValid({ state }: WithState): boolean {
  return state === 'active' || state === 'rotating';
}

/** Returns whether a key has not ended: it is valid, or suspended. */
export function isLive(key: WithState): boolean {
  return isValid(key) || key.state === 'suspended';
}

/** Returns the keys in the same order, but those that are valid first. */
export function validFirst<Item extends WithState>(keys: Item[]): Item[] {
  return keys.toSorted((one, other) => Number(isValid(other)) - Number(isValid(one)));
}
