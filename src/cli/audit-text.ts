import type { Action } from '../admin/audit.js';
import { TERMINAL } from '../admin/audit.js';
import type { AuditEntry } from '../admin/audit.schemas.js';

type Facts = Record<string, unknown>;
/** Returns how a key is named, by its id. */
type KeyText = (id: string) => string;
type Sentence = (on: string, after: Facts, before: Facts, keyText: KeyText) => string;

const KEY = 'key:';

const SENTENCES: Record<Action, Sentence> = {
  'key.issued': (on, after) =>
    `issued ${on}${after['role'] === 'admin' ? ' for an administrator' : ''} on ${planOf(after)}${expiryOf(after)}`,
  'key.rotated': (on, after, _before, keyText) =>
    `rotated ${on}: its successor is ${keyText(textOf(after['successorId']))}, and it expires ${textOf(after['expiresAt'])}`,
  'key.revoked': (on) => `revoked ${on}`,
  'key.expiry_changed': (on, after, before) =>
    `changed when ${on} expires: ${textOf(after['expiresAt'])} instead of ${textOf(before['expiresAt'])}`,
  'key.plan_changed': (on, after, before) => `moved ${on} from ${planOf(before)} to ${planOf(after)}`,
  'key.unbanned': (on, _after, before) => `lifted the ban of ${on}, until ${textOf(before['bannedUntil'])}`,
  'plan.created': (on, after) => `created ${on}: ${limitsOf(after)}`,
  'plan.changed': (on, after, before) => `changed ${on}: ${limitsOf(after)} instead of ${limitsOf(before)}`,
};

/** Returns in words what was done; an action that this release does not know, as it is stored. */
export function auditText({ action, subject, before, after }: AuditEntry, keyText: KeyText): string {
  const sentence = Object.hasOwn(SENTENCES, action) ? SENTENCES[action as Action] : null;
  if (sentence === null) {
    return `${action} ${subject} ${JSON.stringify(after)}`;
  }
  const keyId = keyIdOf(subject);
  const on = keyId === null ? subject.replace(':', ' ') : `key ${keyText(keyId)}`;
  return sentence(on, after, before ?? {}, keyText);
}

/** Returns who did it: a person at the terminal, the service itself, or an administrator's key. */
export function actorText(actor: string, keyText: KeyText): string {
  if (actor.startsWith(`${TERMINAL}:`)) {
    return actor.slice(TERMINAL.length + 1);
  }
  return actor === TERMINAL ? actor : `key ${keyText(actor)}`;
}

/** Returns the ids that an entry may name keys by. */
export function idsIn({ actor, subject, after }: AuditEntry): string[] {
  return [actor, keyIdOf(subject), after['successorId']].filter((id) => typeof id === 'string');
}

function keyIdOf(subject: string): string | null {
  return subject.startsWith(KEY) ? subject.slice(KEY.length) : null;
}

function planOf(facts: Facts): string {
  const own = facts['ownLimits'] === true ? 'its own ' : '';
  return `plan ${textOf(facts['plan'])} (${own}${limitsOf(facts)})`;
}

function limitsOf(facts: Facts): string {
  return `${textOf(facts['perMinute'])} a minute, ${textOf(facts['perDay'])} a day`;
}

function expiryOf({ expiresAt }: Facts): string {
  return typeof expiresAt === 'string' ? `, until ${expiresAt}` : '';
}

function textOf(fact: unknown): string {
  return typeof fact === 'string' ? fact : JSON.stringify(fact ?? 'never').replaceAll('"', '');
}
