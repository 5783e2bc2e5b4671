import type { Prisma } from '../database/generated/client.js';
import { declareTables } from '../database/tables.js';

declareTables({ audit_events: { privileges: 'SELECT, INSERT', sequence: 'audit_events_id_seq' } });

/**
 * Who acts: the id of the key of an administrator or a holder; `terminal:NAME` for a person at the terminal;
 * or `terminal` for the service itself.
 */
export type Actor = string;
export const TERMINAL: Actor = 'terminal';

/** Returns the actor of a person at the terminal. */
export function terminalActor(name: string): Actor {
  return `${TERMINAL}:${name}`;
}

/** The actions that are recorded. */
export const ACTIONS = [
  'key.issued',
  'key.rotated',
  'key.revoked',
  'key.updated',
  'quota.updated',
  'quota.unbanned',
  'plan.created',
  'plan.updated',
  'webhook.created',
  'webhook.changed',
  'webhook.secret_rotated',
  'webhook.tested',
  'webhook.deleted',
  'webhook.delivery_resent',
] as const;
export type Action = (typeof ACTIONS)[number];

/** An action, its actor, and the fields it changed. The fields never contain keys or hashes. */
interface NewAuditEvent {
  actor: Actor;
  action: Action;
  /** `key:ID`, `quota:ID`, `plan:NAME` or `webhook:ID`. */
  subject: string;
  before: Prisma.InputJsonObject | null;
  after: Prisma.InputJsonObject;
}

/** Returns the event of an action on a key. */
export function keyEvent(
  actor: Actor,
  action: Action,
  { id }: { id: string },
  before: NewAuditEvent['before'],
  after: NewAuditEvent['after'],
): NewAuditEvent {
  return { actor, action, subject: `key:${id}`, before, after };
}

/** Returns the event of an action on a quota. */
export function quotaEvent(
  actor: Actor,
  action: Action,
  { id }: { id: string },
  before: NewAuditEvent['before'],
  after: NewAuditEvent['after'],
): NewAuditEvent {
  return { actor, action, subject: `quota:${id}`, before, after };
}

/** Records an event in the transaction of its change, so that neither is stored without the other. */
export async function recordAuditEvent(
  transaction: Prisma.TransactionClient,
  { before, ...event }: NewAuditEvent,
): Promise<void> {
  await transaction.auditEvent.create({ data: { ...event, ...(before !== null && { before }) } });
}
