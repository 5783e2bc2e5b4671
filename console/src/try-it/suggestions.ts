import { randomText } from '../form/random-text';
import type { Parameter } from './operations';
import type { ReceivedResponse } from './send';

/** A value that can be filled in with a button. */
export interface Suggestion {
  label: string;
  value: () => string;
}

/** Returns a value for a parameter that nobody types: a new key, or what the last response gave for the next request. */
export function suggestionFor(
  { name, place }: Parameter,
  response: ReceivedResponse | undefined,
): Suggestion | null {
  if (place === 'header' && name === 'Idempotency-Key') {
    return { label: 'Fill in a new key', value: randomText };
  }
  const header = (wanted: string) => response?.headers.find(([each]) => each === wanted)?.[1];
  const tag = header('etag');
  if (place === 'header' && name === 'If-None-Match' && tag !== undefined) {
    return { label: 'Fill in the ETag of this response', value: () => tag };
  }
  const next = /<([^>]*)>\s*;\s*rel="next"/.exec(header('link') ?? '')?.[1];
  const cursor = next === undefined ? null : new URL(next, 'http://localhost').searchParams.get('cursor');
  return place === 'query' && name === 'cursor' && cursor !== null
    ? { label: 'Fill in the next page', value: () => cursor }
    : null;
}
