import { readFile } from 'node:fs/promises';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { OWN_MIGRATIONS } from '../support/database/own-migrations.js';

const NAMES = '20261128000000_names';
const KEY = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a11';
const DELETED_KEY = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a12';
const QUOTA = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a13';
const WEBHOOK = '019d3c5e-7a10-7c1e-9a52-0d3c0f8f6a14';
const FREE = { plan: 'free', perMinute: 60, perDay: 1000 };
const TIMESTAMP = '2026-11-24T12:00:00.000Z';

let database: TestDatabase;

const migrate = async (name: string) =>
  database.query(await readFile(`prisma/migrations/${name}/migration.sql`, 'utf8'));

beforeAll(async () => {
  database = await createDatabase('template0');
  for (const name of OWN_MIGRATIONS.filter((each) => each < NAMES)) {
    await migrate(name);
  }
  await database.query("INSERT INTO plans (name, per_minute, per_day) VALUES ('free', 60, 1000)");
  await database.query(`INSERT INTO quotas (id, plan) VALUES ('${QUOTA}', 'free')`);
  await database.query(
    `INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four)
     VALUES ('${KEY}', '${QUOTA}', 'Ann', '\\x00', 'ask_test_', 'abcd')`,
  );
});
afterAll(() => database.drop());

/** An audit event. */
type Stored = [actor: string, action: string, subject: string, before: object | null, after: object];
/** Audit events as they were stored, and as they are now. */
const AUDIT: [before: Stored, now: Stored][] = [
  [
    [KEY, 'key.issued', `key:${KEY}`, null, { name: '"ownLimits": true', ...FREE, ownLimits: true }],
    [
      `key:${KEY}`,
      'key.issued',
      `key:${KEY}`,
      null,
      { name: '"ownLimits": true', ...FREE, limitsSource: 'quota' },
    ],
  ],
  [
    ['terminal', 'key.labeled', `key:${KEY}`, { name: 'A', note: null }, { name: 'Ann', note: null }],
    ['service', 'key.updated', `key:${KEY}`, { name: 'A', note: null }, { name: 'Ann', note: null }],
  ],
  [
    ['terminal:ann', 'key.restricted', `key:${KEY}`, { scopes: null }, { scopes: ['pets:read'] }],
    ['terminal:ann', 'key.updated', `key:${KEY}`, { scopes: null }, { scopes: ['pets:read'] }],
  ],
  [
    [KEY, 'key.plan_changed', `key:${KEY}`, { ...FREE, ownLimits: true }, { ...FREE, ownLimits: false }],
    [
      `key:${KEY}`,
      'quota.updated',
      `quota:${QUOTA}`,
      { ...FREE, limitsSource: 'quota' },
      { ...FREE, limitsSource: 'plan' },
    ],
  ],
  [
    [KEY, 'key.unbanned', `key:${DELETED_KEY}`, { bannedUntil: TIMESTAMP }, { bannedUntil: null }],
    [`key:${KEY}`, 'quota.unbanned', `key:${DELETED_KEY}`, { bannedUntil: TIMESTAMP }, { bannedUntil: null }],
  ],
  [
    [KEY, 'plan.changed', 'plan:free', { perDay: 1 }, { perDay: 2 }],
    [`key:${KEY}`, 'plan.updated', 'plan:free', { perDay: 1 }, { perDay: 2 }],
  ],
  [
    [KEY, 'webhook.changed', `webhook:${WEBHOOK}`, { events: ['quota.day_limit_80'] }, { events: [] }],
    [
      `key:${KEY}`,
      'webhook.updated',
      `webhook:${WEBHOOK}`,
      { events: ['quota.day_limit_approaching'] },
      { events: [] },
    ],
  ],
  [
    [
      KEY,
      'webhook.secret_rotated',
      `webhook:${WEBHOOK}`,
      { previousSecretEndsAt: null },
      { previousSecretEndsAt: TIMESTAMP },
    ],
    [
      `key:${KEY}`,
      'webhook.secret_rotated',
      `webhook:${WEBHOOK}`,
      { previousSecretExpiresAt: null },
      { previousSecretExpiresAt: TIMESTAMP },
    ],
  ],
  [
    [
      KEY,
      'webhook.delivery_resent',
      `webhook:${WEBHOOK}`,
      null,
      { delivery: KEY, event: 'operation.deprecated_called' },
    ],
    [
      `key:${KEY}`,
      'webhook.delivery_resent',
      `webhook:${WEBHOOK}`,
      null,
      { deliveryId: KEY, eventType: 'key.deprecated_operation_called' },
    ],
  ],
  [
    [KEY, 'webhook.deleted', `webhook:${WEBHOOK}`, { paused: false }, {}],
    [`key:${KEY}`, 'webhook.deleted', `webhook:${WEBHOOK}`, { paused: false }, {}],
  ],
];

/** Events as they were stored, and as they are now. */
const ofKey = { keyId: KEY, name: 'Ann', quotaId: QUOTA };
const asKey = { keyId: KEY, keyName: 'Ann', quotaId: QUOTA };
const DELIVERIES: [[type: string, subject: string, data: object], [type: string, data: object]][] = [
  [
    ['quota.day_limit_80', `quota:${QUOTA}:20000`, { plan: 'free', limit: 10, used: 8, ...ofKey }],
    [
      'quota.day_limit_approaching',
      { plan: 'free', limit: 10, used: 8, quotaId: QUOTA, thresholdPercent: 80 },
    ],
  ],
  [
    ['quota.day_limit_reached', `quota:${QUOTA}:20000`, { plan: 'free', limit: 10, used: 10, ...ofKey }],
    ['quota.day_limit_reached', { plan: 'free', limit: 10, used: 10, quotaId: QUOTA, thresholdPercent: 100 }],
  ],
  [
    ['quota.banned', `quota:${QUOTA}:${TIMESTAMP}`, { plan: 'free', bannedUntil: TIMESTAMP, ...ofKey }],
    ['quota.banned', { plan: 'free', bannedUntil: TIMESTAMP, quotaId: QUOTA }],
  ],
  [
    ['key.revoked', KEY, { ...ofKey, revokedAt: TIMESTAMP }],
    ['key.revoked', { ...asKey, revokedAt: TIMESTAMP }],
  ],
  [
    [
      'operation.deprecated_called',
      `getPet:${KEY}:20000`,
      { operation: 'getPet', removedAt: TIMESTAMP, ...ofKey },
    ],
    ['key.deprecated_operation_called', { operation: 'getPet', sunsetAt: TIMESTAMP, ...asKey }],
  ],
  [
    ['webhook.test', KEY, { webhookId: WEBHOOK }],
    ['webhook.test', { webhookId: WEBHOOK }],
  ],
];

describe(`the migration ${NAMES}`, () => {
  it('gives audit events, webhooks and deliveries of earlier databases the names of today', async () => {
    for (const [[actor, action, subject, before, after]] of AUDIT) {
      await database.query(
        'INSERT INTO audit_events (actor, action, subject, before, after) VALUES ($1, $2, $3, $4, $5)',
        [actor, action, subject, before && JSON.stringify(before), JSON.stringify(after)],
      );
    }
    await database.query(
      `INSERT INTO webhooks (id, url, events, secret, paused)
       VALUES ($1, 'https://ops.example/', $2, 'x', true)`,
      [WEBHOOK, ['quota.day_limit_80', 'key.revoked', 'operation.deprecated_called']],
    );
    for (const [[event, subject, data]] of DELIVERIES) {
      await database.query(
        `INSERT INTO webhook_deliveries (id, webhook_id, event, event_key, payload)
         VALUES (gen_random_uuid(), $1, $2, $3, $4)`,
        [WEBHOOK, event, `${event}:${subject}`, JSON.stringify({ type: event, timestamp: TIMESTAMP, data })],
      );
    }

    await migrate(NAMES);

    const audit = await database.query<Record<'actor' | 'action' | 'subject' | 'before' | 'after', string>>(
      'SELECT actor, action, subject, before, after FROM audit_events ORDER BY id',
    );
    expect(audit.map((row) => [row.actor, row.action, row.subject, row.before, row.after])).toEqual(
      AUDIT.map(([, now]) => now),
    );
    const [webhook] = await database.query('SELECT events, pause_reason FROM webhooks');
    expect(webhook).toEqual({
      events: ['quota.day_limit_approaching', 'key.revoked', 'key.deprecated_operation_called'],
      pause_reason: 'administrator',
    });
    const deliveries = await database.query(
      'SELECT event_type, dedupe_key, payload, event_id = id AS "hasOwnId" FROM webhook_deliveries',
    );
    expect(deliveries).toHaveLength(DELIVERIES.length);
    expect(deliveries).toEqual(
      expect.arrayContaining(
        DELIVERIES.map(([[, subject], [type, data]]) => ({
          event_type: type,
          dedupe_key: `${type}:${subject}`,
          payload: { type, timestamp: TIMESTAMP, data },
          hasOwnId: true,
        })),
      ),
    );
  });

  it('leaves the audit append only', async () => {
    for (const role of ['origin', 'replica']) {
      await expect(
        database.query(`SET session_replication_role = ${role}; UPDATE audit_events SET actor = 'nobody'`),
      ).rejects.toThrow('The audit is append only');
    }
  });
});
