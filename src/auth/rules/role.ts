export const KEY_ROLES = ['client', 'admin'] as const;
/** Which keys may call a path: those of clients, or of administrators. */
export type KeyRole = (typeof KEY_ROLES)[number];

/** The paths that need a key, and are counted. */
const CLIENT_PATH = /^\/v1(\/|$)/;
const ADMIN_PATH = /^\/admin(\/|$)/;

/** Returns the role that a path requires of a key; null for a public path. */
export function roleForPath(path: string): KeyRole | null {
  if (CLIENT_PATH.test(path)) {
    return 'client';
  }
  return ADMIN_PATH.test(path) ? 'admin' : null;
}
