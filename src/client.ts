import type { ApiError } from './errors/api-error.js';

/** What a client may use: its plan's numbers, or its own. Limits, counters and bans belong to it. */
export interface Quota {
  id: string;
  plan: string;
  perMinute: number;
  perDay: number;
}

export type KeyRole = 'client' | 'admin';

/** Who sends a request, once its API key is known to be valid. */
export interface Client {
  keyId: string;
  role: KeyRole;
  /** When the key stops being valid, or null for one that never does. */
  expiresAt: Date | null;
  quota: Quota;
}

/** What the credential of a request says: a client, or why it is none. */
export type Caller = { client: Client; refusal: null } | { client: null; refusal: ApiError };
