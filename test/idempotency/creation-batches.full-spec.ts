import { useApplication } from '../support/service/application.js';
import { send } from '../support/http/http.js';
import { UNLIMITED } from '../support/keys/keys.js';

const service = useApplication();
let bad: string;
let good: string;

beforeAll(async () => {
  [bad, good] = (await Promise.all(
    [service.issue(UNLIMITED), service.issue(UNLIMITED)].map(async (issued) => (await issued).key),
  )) as [string, string];
});

const create = (key: string, name: string, idempotencyKey?: string) =>
  send(`${service.url}/v1/pets`, {
    method: 'POST',
    key,
    body: { name, categoryId: 3 },
    ...(idempotencyKey !== undefined && { headers: { 'Idempotency-Key': idempotencyKey } }),
  });

/** What makes PostgreSQL reject the animal "bad": the SQL of a trigger's body. */
const REJECTIONS = {
  'a value that is out of range (22003)': 'PERFORM 2147483647 + length(NEW.name);',
  'an untranslatable character (22P05)': "PERFORM convert_to('日本', 'LATIN1');",
  'a division by zero (22012)': 'PERFORM 1 / (length(NEW.name) - 3);',
  'a constraint (23514)': "RAISE check_violation USING MESSAGE = 'bad';",
  'a row that is too large for an index (54000)': "RAISE program_limit_exceeded USING MESSAGE = 'bad';",
  'an error of a trigger (P0001)': "RAISE 'bad';",
  'an internal error (XX000)': "RAISE internal_error USING MESSAGE = 'bad';",
};

describe('POST /v1/pets beside a request whose animal PostgreSQL rejects', () => {
  beforeAll(() =>
    service.database.query(
      `CREATE FUNCTION reject_bad() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`,
    ),
  );
  beforeEach(() => service.database.query('DELETE FROM pets'));
  afterEach(() => service.database.query('DROP TRIGGER IF EXISTS reject_bad ON pets'));

  it.each(Object.entries(REJECTIONS))('returns 201 in the same batch: %s', async (_what, sql) => {
    await service.database.query(`
      CREATE OR REPLACE FUNCTION reject_bad() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF NEW.name = 'bad' THEN ${sql} END IF; RETURN NEW; END $$`);
    await service.database.query(
      'CREATE TRIGGER reject_bad BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION reject_bad()',
    );
    for (let round = 1; round <= 10; round += 1) {
      const rejected = create(bad, 'bad', round % 2 === 0 ? `bad-${round}` : undefined);
      const created = await Promise.all(
        Array.from({ length: 20 }, (_, number) =>
          create(good, `good ${round} ${number}`, number % 2 === 0 ? crypto.randomUUID() : undefined),
        ),
      );
      expect(created.map(({ status }) => status)).toEqual(Array(20).fill(201));
      expect(await rejected).toMatchObject({ status: 500, json: { code: 'internal_error' } });
    }
    // Each was created once, though most were in several batches.
    expect(
      await service.database.query('SELECT count(*)::int, count(DISTINCT name)::int AS names FROM pets'),
    ).toEqual([{ count: 200, names: 200 }]);
    expect(
      await service.database.query(
        "SELECT count(*)::int FROM stored_responses WHERE idempotency_key LIKE 'bad-%'",
      ),
    ).toEqual([{ count: 0 }]);
    await service.database.query('DROP TRIGGER reject_bad ON pets');
    // A failed attempt may be tried again.
    expect((await create(bad, 'bad', 'bad-2')).status).toBe(201);
    await service.database.query('DELETE FROM stored_responses');
  });
});

describe('a request whose counters PostgreSQL rejects', () => {
  it('fails alone: requests of other keys in the same batch are counted once, and not degraded', async () => {
    const { id, key } = await service.issue({ plan: 'free' });
    const [row] = await service.database.query<{ quota_id: string }>(
      'SELECT quota_id FROM api_keys WHERE id = $1',
      [id],
    );
    await service.database.query(
      `ALTER TABLE rate_limit_counters ADD CONSTRAINT bad CHECK (bucket_key NOT LIKE '%${row?.quota_id}%')`,
    );
    const others = await Promise.all(Array.from({ length: 20 }, () => service.issue({ plan: 'free' })));
    for (let round = 1; round <= 3; round += 1) {
      const [rejected, ...counted] = await Promise.all(
        [key, ...others.map((other) => other.key)].map((each) =>
          send(`${service.url}/v1/pets`, { key: each }),
        ),
      );
      expect(rejected?.status).toBe(503);
      expect(counted.map(({ status }) => status)).toEqual(Array(20).fill(200));
      expect(counted.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual(
        Array(20).fill(String(60 - round)),
      );
      expect(counted.filter(({ headers }) => headers.has('x-ratelimit-degraded'))).toStrictEqual([]);
    }
    await service.database.query('ALTER TABLE rate_limit_counters DROP CONSTRAINT bad');
    expect((await send(`${service.url}/v1/pets`, { key })).status).toBe(200);
  });
});
