import pg from 'pg';
import { type Administration, startAdministration } from './support/administration.js';
import { expectError } from './support/expectations.js';
import { send } from './support/http.js';

const ROWS = 40_000;

describe('administration of large and damaged tables', () => {
  let admin: Administration;

  beforeAll(async () => {
    admin = await startAdministration();
    // A counter of an anonymous client for each address, and more bans than a statement can have parameters.
    await admin.store.database.query(
      `INSERT INTO rate_limit_counters (subject, minute, minute_used, minute_limit, day, day_used, granted, banned_until)
       SELECT 'address:' || n, 0, 0, 300, 0, 0, 0, NULL FROM generate_series(1, $1::int) n
       UNION ALL
       SELECT 'quota:' || gen_random_uuid(), 0, 0, 60, 0, 0, 0, now() + '1 day' FROM generate_series(1, $1::int)`,
      [ROWS],
    );
    await admin.store.database.query('ANALYZE rate_limit_counters');
  });
  afterAll(() => admin.store.close());

  it('returns banned and other keys among 40,000 bans', async () => {
    const banned = await admin.issue({ name: 'banned' });
    await admin.store.database.query(
      `INSERT INTO rate_limit_counters (subject, minute, minute_used, minute_limit, day, day_used, granted, banned_until)
       VALUES ('quota:' || $1, 0, 0, 60, 0, 0, 0, now() + '1 day')`,
      [banned.quotaId],
    );
    expect((await admin.send('GET /admin/keys?banned=true')).json).toMatchObject([{ id: banned.id }]);
    expect((await admin.send('GET /admin/keys?banned=false')).json).toMatchObject([
      { id: admin.administrator.id },
    ]);
  });

  it('finds bans by their index, on another connection than the one that counts', async () => {
    await admin.store.database.query('UPDATE rate_limit_counters SET banned_until = NULL');
    await admin.store.database.query('VACUUM ANALYZE rate_limit_counters');
    const plan = await admin.store.database.query(
      'EXPLAIN SELECT subject, banned_until FROM rate_limit_counters WHERE banned_until > now()',
    );
    const lines = plan.map((line) => String(line['QUERY PLAN'])).join('\n');
    expect(lines).toContain('rate_limit_counters_banned_until_idx');
    expect(lines).not.toContain('Seq Scan');
    await admin.send('GET /admin/keys');
    const connections = await admin.store.database.query(
      `SELECT query ~ 'banned_until >' AS reads_bans FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'animal-store bans'`,
    );
    expect(connections).toEqual([{ reads_bans: true }]);
  });

  it('returns and repairs a quota that was left without limits by SQL', async () => {
    const { id, key, quotaId } = await admin.issue();
    await admin.store.database.query("UPDATE quotas SET plan = 'enterprise' WHERE id = $1", [quotaId]);
    const without = { id, plan: 'enterprise', perMinute: null, perDay: null };
    expect(await admin.send(`GET /admin/keys/${id}`)).toMatchObject({ status: 200, json: without });
    expect((await admin.send('GET /admin/keys?plan=enterprise')).json).toContainEqual(
      expect.objectContaining(without),
    );
    expect(await admin.send(`PATCH /admin/keys/${id}`, { plan: 'free' })).toMatchObject({
      status: 200,
      json: { plan: 'free', perMinute: 60, perDay: 1000 },
    });
    expect((await admin.send('GET /admin/audit?limit=1')).json).toMatchObject([
      { action: 'key.plan_changed', before: { perMinute: null, perDay: null }, after: { perMinute: 60 } },
    ]);
    expect((await send(`${admin.store.url}/v1/pets`, { key })).status).toBe(200);
  });

  it('waits at most a second for a lock, so other requests still get connections', async () => {
    const { id, quotaId } = await admin.issue();
    const holder = new pg.Client({ connectionString: admin.store.database.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM quotas WHERE id = $1 FOR UPDATE', [quotaId]);
    // More requests than the pool has connections.
    const revocations = Promise.all(
      Array.from({ length: 12 }, () => admin.send(`POST /admin/keys/${id}/revoke`)),
    );
    const listed = await admin.send('GET /v1/pets');
    const rejected = await revocations;
    await holder.query('ROLLBACK');
    await holder.end();
    expect(listed.status).toBe(200);
    for (const response of rejected) {
      expectError(response, 503, 'service_unavailable');
    }
    expect((await admin.send(`POST /admin/keys/${id}/revoke`)).json).toMatchObject({ state: 'revoked' });
  });
});
