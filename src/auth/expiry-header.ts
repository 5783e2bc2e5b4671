import type { Client } from '../client.js';

const NONE = {};

/**
 * Tells when the key of a request stops being valid, as an HTTP date (IMF-fixdate, RFC 9110, section 5.6.7), rounded
 * down to the second. Nothing for a key that never does.
 */
export function expiryHeader({ expiresAt }: Pick<Client, 'expiresAt'>): Record<string, string> {
  return expiresAt === null ? NONE : { 'X-Api-Key-Expires': expiresAt.toUTCString() };
}
