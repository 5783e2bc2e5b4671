import type { Action } from '../admin/audit.js';
import { TERMINAL } from '../admin/audit.js';
import type { AuditEvent } from '../admin/audit.schemas.js';

type Fields = Record<string, unknown>;
/** Returns the text for the key with this id. */
type KeyText = (id: string) => string;
type Sentence = (on: string, after: Fields, before: Fields, keyText: KeyText) => string;

const KEY = 'key:';

const SENTENCES: Record<Action, Sentence> = {
  'key.issued': (on, after) =>
    `issued ${on}${after['role'] === 'admin' ? ' for an administrator' : ''} on ${planOf(after)}${expiryOf(after)}`,
  'key.rotated': (on, after, _before, keyText) =>
    `rotated ${on}: its successor is ${keyText(textOf(after['successorId']))}, and it expires ${textOf(after['expiresAt'])}`,
  'key.revoked': (on) => `revoked ${on}`,
  'key.labeled': (on, after, before) => `labeled ${on}: ${labelOf(after)} instead of ${labelOf(before)}`,
  'key.expiry_changed': (on, after, before) =>
    `changed when ${on} expires: ${textOf(after['expiresAt'])} instead of ${textOf(before['expiresAt'])}`,
  'key.plan_changed': (on, after, before) => `moved ${on} from ${planOf(before)} to ${planOf(after)}`,
  'key.unbanned': (on, _after, before) => `lifted the ban of ${on}, until ${textOf(before['bannedUntil'])}`,
  'plan.created': (on, after) => `created ${on}: ${limitsOf(after)}`,
  'plan.changed': (on, after, before) => `changed ${on}: ${limitsOf(after)} instead of ${limitsOf(before)}`,
};

/** Returns a sentence for the entry, or the stored values for an action that this release does not have. */
export function auditText({ action, subject, before, after }: AuditEvent, keyText: KeyText): string {
  const sentence = Object.hasOwn(SENTENCES, action) ? SENTENCES[action as Action] : null;
  if (sentence === null) {
    return `${action} ${subject} ${JSON.stringify(after)}`;
  }
  const keyId = keyIdOf(subject);
  const on = keyId === null ? subject.replace(':', ' ') : `key ${keyText(keyId)}`;
  return sentence(on, after, before ?? {}, keyText);
}

/** Returns the text for the actor: a person at the terminal, the service itself, or an administrator's key. */
export function actorText(actor: string, keyText: KeyText): string {
  if (actor.startsWith(`${TERMINAL}:`)) {
    return actor.slice(TERMINAL.length + 1);
  }
  return actor === TERMINAL ? actor : `key ${keyText(actor)}`;
}

/** Returns the ids of keys in an entry. */
export function idsIn({ actor, subject, after }: AuditEvent): string[] {
  return [actor, keyIdOf(subject), after['successorId']].filter((id) => typeof id === 'string');
}

function keyIdOf(subject: string): string | null {
  return subject.startsWith(KEY) ? subject.slice(KEY.length) : null;
}

function planOf(fields: Fields): string {
  const own = fields['ownLimits'] === true ? 'its own ' : '';
  return `plan ${textOf(fields['plan'])} (${own}${limitsOf(fields)})`;
}

function labelOf({ name, note }: Fields): string {
  return `"${textOf(name)}" ${typeof note === 'string' ? `with the note "${note}"` : 'without a note'}`;
}

function limitsOf(fields: Fields): string {
  return `${textOf(fields['perMinute'])} a minute, ${textOf(fields['perDay'])} a day`;
}

function expiryOf({ expiresAt }: Fields): string {
  return typeof expiresAt === 'string' ? `, until ${expiresAt}` : '';
}

function textOf(fact: unknown): string {
  return typeof fact === 'string' ? fact : JSON.stringify(fact ?? 'never').replaceAll('"', '');
}
