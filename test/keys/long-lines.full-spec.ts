import { readFile } from 'node:fs/promises';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { send } from '../support/http/http.js';
import { useAdministration } from '../support/keys/administration.js';
import { UNLIMITED } from '../support/keys/keys.js';

const GENERATIONS = 100_000;
const WITHIN_MS = 1000;
const BACKFILL = 'prisma/migrations/20261129000100_lines_of_earlier_keys/migration.sql';

const admin = useAdministration();
let lead: IssuedKey;
let first: IssuedKey;

const post = (key: string, path: string, body?: object) =>
  send(admin.store.url + path, { method: 'POST', key, body });
const query = (text: string, values?: unknown[]) => admin.store.database.query(text, values);
const validIds = () =>
  query('SELECT id FROM api_keys WHERE quota_id = $1 AND revoked_at IS NULL ORDER BY id', [lead.quotaId]);

describe(`a key that was rotated ${GENERATIONS} times`, () => {
  beforeEach(async () => {
    lead = await admin.issue({ ...UNLIMITED, scopes: ['pets:read', 'keys:write'] });
    first = (await post(lead.key, '/v1/keys', { name: 'team' })).json;
    // The rows have all that the triggers would check and set, which takes most of the time.
    await query('ALTER TABLE api_keys DISABLE TRIGGER ALL');
    await query(
      `INSERT INTO api_keys (
         id, quota_id, name, hash, prefix, last_four, created_at, revoked_at, predecessor_id, issuer_id,
         line_id, generation
       )
       SELECT
         md5($1 || n)::uuid, $2, 'x', sha256(($1 || n)::bytea), 'ask_test_', '0000', '2026-01-01Z',
         CASE WHEN n < $4 THEN now() END,
         CASE WHEN n = 1 THEN $1::uuid ELSE md5($1 || n - 1)::uuid END, $3, $1::uuid, n
       FROM generate_series(1, $4) n`,
      [first.id, lead.quotaId, lead.id, GENERATIONS],
    );
    await query('ALTER TABLE api_keys ENABLE TRIGGER ALL');
  });

  // First, while there is no other line of this length.
  it('gets its line from the migration if an earlier release rotated it', async () => {
    await query('CREATE TABLE lines AS SELECT id, line_id, generation FROM api_keys');
    await query("UPDATE api_keys SET line_id = '00000000-0000-0000-0000-000000000000', generation = 0");
    await query(await readFile(BACKFILL, 'utf8'));
    const changed = 'SELECT id, line_id, generation FROM api_keys EXCEPT TABLE lines';
    expect(await query(changed)).toStrictEqual([]);
  });

  it.each<[string, () => ReturnType<typeof post>, number, number]>([
    ['an administrator', () => admin.send('POST /admin/keys/revoke', { key: first.key }), 200, 1],
    ['the lead', () => post(lead.key, `/v1/keys/${first.id}/revoke`), 200, 1],
    ['its holder', () => post(first.key, '/v1/key/rotate', { leaked: true }), 201, 2],
  ])('is ended within a second by %s', async (_who, end, status, valid) => {
    const started = performance.now();
    expect((await end()).status).toBe(status);
    expect(performance.now() - started).toBeLessThan(WITHIN_MS);
    expect(await validIds()).toHaveLength(valid);
  });
});
