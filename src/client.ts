import type { FastifyRequest } from 'fastify';
import type { ApiError } from './errors/api-error.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Made at most once for each request, by `Authenticator`; null until then. */
    caller: Promise<Caller> | null;
  }
}

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

/**
 * The client that a handler serves.
 *
 * @throws Error for a route that lets in who is not authenticated.
 */
export async function clientOf({ caller }: Pick<FastifyRequest, 'caller'>): Promise<Client> {
  const client = (await caller)?.client;
  if (!client) {
    throw new Error('A handler that serves a client must be behind the guard of API keys');
  }
  return client;
}
