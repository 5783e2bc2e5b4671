import type { Prisma } from '../database/generated/client.js';

/** The types of actors: a key of an administrator or a holder, a person at the terminal, the service. */
export const ACTOR_TYPES = ['key', 'terminal', 'service'] as const;

/** Who acts, as it is stored. */
export type Actor = `key:${string}` | `terminal:${string}` | 'service';

/** The actor of what the service does by itself. */
export const SERVICE: Actor = 'service';

/** Returns the actor of a request with this key. */
export const keyActor = (keyId: string): Actor => `key:${keyId}`;

/** Returns the actor of a person at the terminal. */
export const terminalActor = (name: string): Actor => `terminal:${name}`;

export const SUBJECT_TYPES = ['key', 'quota', 'plan', 'webhook'] as const;

export const ACTIONS = [
  'key.issued',
  'key.rotated',
  'key.revoked',
  'key.updated',
  'key.suspended',
  'key.resumed',
  'quota.updated',
  'quota.unbanned',
  'quota.erased',
  'plan.created',
  'plan.updated',
  'webhook.created',
  'webhook.updated',
  'webhook.paused',
  'webhook.secret_rotated',
  'webhook.tested',
  'webhook.deleted',
  'webhook.delivery_resent',
] as const;
type Action = (typeof ACTIONS)[number];

/**
 * Records an action in the transaction of its change, so that neither is stored without the other.
 *
 * @param resource what the action changed; its type is the first part of the action.
 * @param before the changed fields, never keys or hashes; null if the action created something.
 * @param after the same fields after the action.
 */
export async function recordAuditEvent(
  transaction: Prisma.TransactionClient,
  actor: Actor,
  action: Action,
  resource: { id: string },
  before: Prisma.InputJsonObject | null,
  after: Prisma.InputJsonObject,
): Promise<void> {
  const subject = `${action.split('.')[0]}:${resource.id}`;
  const data = { actor, action, subject, after, ...(before !== null && { before }) };
  await transaction.auditEvent.create({ data });
}
