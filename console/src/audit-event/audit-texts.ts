import type { AuditEvent } from 'animal-store-client';

/** The actions that are recorded, in words. */
export const ACTIONS: Record<string, string> = {
  'key.issued': 'Issued a key',
  'key.rotated': 'Rotated a key',
  'key.revoked': 'Revoked a key',
  'key.updated': 'Changed a key',
  'key.suspended': 'Suspended a key',
  'key.resumed': 'Resumed a key',
  'quota.updated': 'Changed a quota',
  'quota.erased': 'Erased a customer',
  'quota.unbanned': 'Lifted a ban',
  'plan.created': 'Created a plan',
  'plan.updated': 'Changed a plan',
  'webhook.created': 'Created a webhook',
  'webhook.updated': 'Changed a webhook',
  'webhook.paused': 'Paused a webhook',
  'webhook.secret_rotated': 'Rotated the secret of a webhook',
  'webhook.tested': 'Sent a test event',
  'webhook.deleted': 'Deleted a webhook',
  'webhook.delivery_resent': 'Sent a delivery again',
};

/** The actions of which an erasure removes what described a customer. */
const ERASABLE = new Set(['key.updated', 'quota.updated']);

/** What was done to a key or a quota, by the first field that it changed. */
const UPDATES: Record<string, string> = {
  name: 'Renamed a key',
  note: 'Changed the note of a key',
  scopes: 'Changed the scopes of a key',
  allowedNetworks: 'Changed the networks of a key',
  plan: 'Changed the plan of a quota',
  perMinute: 'Changed the limits of a quota',
  perDay: 'Changed the limits of a quota',
  externalId: 'Changed the external ID of a quota',
};

/** How a field is called, and what it means that it has no value. */
interface Field {
  label: string;
  none: string;
}

const FIELDS: Record<string, Field> = {
  name: { label: 'Name', none: 'none' },
  note: { label: 'Note', none: 'none' },
  role: { label: 'Role', none: 'none' },
  scopes: { label: 'Scopes', none: 'all of its role' },
  allowedNetworks: { label: 'Networks', none: 'anywhere' },
  plan: { label: 'Plan', none: 'none' },
  perMinute: { label: 'Limit per minute', none: 'set for each quota' },
  perDay: { label: 'Limit per day', none: 'set for each quota' },
  maxKeyLifetimeDays: { label: 'Longest life of a key, in days', none: 'any' },
  limitsSource: { label: 'Limits from', none: 'none' },
  externalId: { label: 'External ID', none: 'none' },
  expiresAt: { label: 'Expiry', none: 'never' },
  revokedAt: { label: 'Revoked', none: 'no' },
  revokedKeys: { label: 'Keys revoked', none: 'none' },
  suspendedAt: { label: 'Suspended', none: 'no' },
  bannedUntil: { label: 'Banned until', none: 'none' },
  successorId: { label: 'Successor', none: 'none' },
  successorExpiresAt: { label: 'Expiry of the successor', none: 'never' },
  url: { label: 'URL', none: 'none' },
  events: { label: 'Events', none: 'none' },
  deliveryId: { label: 'Delivery', none: 'none' },
  eventType: { label: 'Event', none: 'none' },
  quotaId: { label: 'Events of quota', none: 'every quota' },
  paused: { label: 'Paused', none: 'no' },
  pauseReason: { label: 'Why', none: 'none' },
  previousSecretExpiresAt: { label: 'Old secret', none: 'none' },
};

/** A field that an action changed. */
export interface Change extends Field {
  name: string;
  /** Undefined if the action created the subject. */
  before: unknown;
  after: unknown;
}

/** Returns what was done in words, or the name of an action that this console does not know. */
export function actionText(entry: Pick<AuditEvent, 'action' | 'before' | 'after'>): string {
  const [first] = listChanges(entry);
  const update = ERASABLE.has(entry.action) && first !== undefined ? UPDATES[first.name] : undefined;
  return update ?? ACTIONS[entry.action] ?? entry.action;
}

/**
 * Returns the fields that an action set to another value, in the same order for every action; of what it
 * created, those that have a value.
 */
export function listChanges({ before, after }: Pick<AuditEvent, 'before' | 'after'>): Change[] {
  const isChanged = (name: string, value: unknown) =>
    before === null
      ? value !== null && value !== false
      : JSON.stringify(before[name] ?? null) !== JSON.stringify(value);
  return Object.entries(after)
    .filter(([name, value]) => isChanged(name, value))
    .toSorted(([one], [other]) => fieldRank(one) - fieldRank(other))
    .map(([name, value]) => ({
      name,
      ...(FIELDS[name] ?? { label: name, none: 'none' }),
      before: before === null ? undefined : (before[name] ?? null),
      after: value,
    }));
}

/**
 * Returns whether what an action changed was removed when the customer was erased. That of another action
 * may be in what is not shown, as of the URL of a webhook.
 */
export function wasErased(entry: Pick<AuditEvent, 'action' | 'before' | 'after'>): boolean {
  return ERASABLE.has(entry.action) && listChanges(entry).length === 0;
}

/** Fields that this console does not know yet come last. */
function fieldRank(name: string): number {
  const names = Object.keys(FIELDS);
  return names.includes(name) ? names.indexOf(name) : names.length;
}
