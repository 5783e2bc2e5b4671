import type { Prisma } from '../database/generated/client.js';
import { declareTables } from '../database/access/tables.js';

declareTables({ audit_events: { privileges: 'SELECT, INSERT', sequence: 'audit_events_id_seq' } });

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

/** The types of what actions change. */
export const SUBJECT_TYPES = ['key', 'quota', 'plan', 'webhook'] as const;

/** What an action changes, as it is stored: its type and its id; that of a plan is its name. */
type Subject = `${(typeof SUBJECT_TYPES)[number]}:${string}`;

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
  'webhook.updated',
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
  subject: Subject;
  before: Prisma.InputJsonObject | null;
  after: Prisma.InputJsonObject;
}

/** Returns the event of an action on a resource, whose type is the first part of the action. */
export function auditEvent(
  actor: Actor,
  action: Action,
  { id }: { id: string },
  before: NewAuditEvent['before'],
  after: NewAuditEvent['after'],
): NewAuditEvent {
  const [type] = action.split('.') as [(typeof SUBJECT_TYPES)[number]];
  return { actor, action, subject: `${type}:${id}`, before, after };
}

/** Records an event in the transaction of its change, so that neither is stored without the other. */
export async function recordAuditEvent(
  transaction: Prisma.TransactionClient,
  { before, ...event }: NewAuditEvent,
): Promise<void> {
  await transaction.auditEvent.create({ data: { ...event, ...(before !== null && { before }) } });
}
