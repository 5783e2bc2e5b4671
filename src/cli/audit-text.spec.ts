import type { AuditEvent } from '../admin/audit.schemas.js';
import { actorText, auditText, idsIn } from './audit-text.js';

const free = { plan: 'free', perMinute: 60, perDay: 1000, ownLimits: false };
const own = { plan: 'enterprise', perMinute: 5000, perDay: 100_000, ownLimits: true };
const instant = '2026-11-22T08:30:00.000Z';
const keyText = (id: string) => `"${id}"`;

const entry = (action: string, after: object, before: object | null = null): AuditEvent => ({
  id: '1',
  at: instant,
  actor: 'terminal',
  action,
  subject: action.startsWith('plan') ? 'plan:free' : 'key:Ann',
  before: before as AuditEvent['before'],
  after: after as AuditEvent['after'],
});

describe('auditText', () => {
  it.each<[string, object, object | null, string]>([
    [
      'key.issued',
      { name: 'Ann', role: 'client', ...free, expiresAt: null },
      null,
      'issued key "Ann" on plan free (60 a minute, 1000 a day)',
    ],
    [
      'key.issued',
      { name: 'Ann', role: 'admin', ...own, expiresAt: instant },
      null,
      `issued key "Ann" for an administrator on plan enterprise (its own 5000 a minute, 100000 a day), until ${instant}`,
    ],
    [
      'key.rotated',
      { expiresAt: instant, successorId: 'Bob', successorExpiresAt: null },
      { expiresAt: null, successorId: null },
      `rotated key "Ann": its successor is "Bob", and it expires ${instant}`,
    ],
    ['key.revoked', { revokedAt: instant }, { revokedAt: null }, 'revoked key "Ann"'],
    [
      'key.labeled',
      { name: 'Ann', note: 'calls at night' },
      { name: 'Bob', note: null },
      'labeled key "Ann": "Ann" with the note "calls at night" instead of "Bob" without a note',
    ],
    [
      'key.expiry_changed',
      { expiresAt: instant },
      { expiresAt: null },
      `changed when key "Ann" expires: ${instant} instead of never`,
    ],
    [
      'key.plan_changed',
      own,
      free,
      'moved key "Ann" from plan free (60 a minute, 1000 a day) to plan enterprise (its own 5000 a minute, 100000 a day)',
    ],
    [
      'key.unbanned',
      { bannedUntil: null },
      { bannedUntil: instant },
      `lifted the ban of key "Ann", until ${instant}`,
    ],
    ['plan.created', { perMinute: 1, perDay: 2 }, null, 'created plan free: 1 a minute, 2 a day'],
    [
      'plan.changed',
      { perMinute: 1, perDay: 2 },
      { perMinute: 60, perDay: 1000 },
      'changed plan free: 1 a minute, 2 a day instead of 60 a minute, 1000 a day',
    ],
    ['key.frozen', { since: instant }, null, `key.frozen key:Ann {"since":"${instant}"}`],
  ])('returns a sentence for %s', (action, after, before, sentence) => {
    expect(auditText(entry(action, after, before), keyText)).toBe(sentence);
  });
});

describe('actorText', () => {
  it('returns the name of a person at the terminal, and the key of an administrator', () => {
    expect(actorText('terminal:ann', keyText)).toBe('ann');
    expect(actorText('terminal', keyText)).toBe('terminal');
    expect(actorText('Ann', keyText)).toBe('key "Ann"');
  });
});

describe('idsIn', () => {
  it('returns the ids of the actor, of the key, and of its successor', () => {
    expect(idsIn(entry('key.rotated', { successorId: 'Bob' }))).toEqual(['terminal', 'Ann', 'Bob']);
    expect(idsIn(entry('plan.changed', {}))).toEqual(['terminal']);
  });
});
