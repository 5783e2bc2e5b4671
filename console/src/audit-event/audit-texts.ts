import type { AuditEvent } from 'animal-store-client';

/** The actions that are recorded, in words. */
export const ACTIONS: Record<string, string> = {
  'key.issued': 'Issued a key',
  'key.rotated': 'Rotated a key',
  'key.revoked': 'Revoked a key',
  'key.labeled': 'Renamed a key',
  'key.plan_changed': 'Changed the plan of a key',
  'key.restricted': 'Restricted a key',
  'key.unbanned': 'Lifted a ban',
  'plan.created': 'Created a plan',
  'plan.changed': 'Changed a plan',
  'webhook.created': 'Created a webhook',
  'webhook.changed': 'Changed a webhook',
  'webhook.secret_rotated': 'Rotated the secret of a webhook',
  'webhook.tested': 'Sent a test event',
  'webhook.deleted': 'Deleted a webhook',
  'webhook.delivery_resent': 'Sent a delivery again',
};
const FIELDS: Record<string, string> = {
  name: 'Name',
  note: 'Note',
  role: 'Role',
  scopes: 'Scopes',
  allowedNetworks: 'Networks',
  plan: 'Plan',
  perMinute: 'Per minute',
  perDay: 'Per day',
  ownLimits: 'Limits of its own',
  expiresAt: 'Expires',
  revokedAt: 'Revoked',
  bannedUntil: 'Banned until',
  successorId: 'Successor',
  successorExpiresAt: 'Successor expires',
  url: 'URL',
  events: 'Events',
  delivery: 'Delivery',
  event: 'Event',
  paused: 'Paused',
  previousSecretEndsAt: 'Old secret signs until',
};

/** A field that an action changed. */
export interface Change {
  name: string;
  label: string;
  /** Undefined if the action created the subject. */
  before: unknown;
  after: unknown;
}

/** Returns an action in words, or its name if this console does not know it. */
export function actionText(action: string): string {
  return ACTIONS[action] ?? action;
}

/** Returns the fields that an action set to another value, in the same order for every action. */
export function listChanges({ before, after }: Pick<AuditEvent, 'before' | 'after'>): Change[] {
  return Object.entries(after)
    .filter(([name, value]) => JSON.stringify(before?.[name]) !== JSON.stringify(value))
    .filter(([, value]) => before !== null || value !== null)
    .toSorted(([one], [other]) => fieldRank(one) - fieldRank(other))
    .map(([name, value]) => ({ name, label: FIELDS[name] ?? name, before: before?.[name], after: value }));
}

/** Fields that this console does not know yet come last. */
function fieldRank(name: string): number {
  const names = Object.keys(FIELDS);
  return names.includes(name) ? names.indexOf(name) : names.length;
}
