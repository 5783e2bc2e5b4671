import { SERVICE } from '../../src/audit/audit.js';
import { KeyService } from '../../src/keys/key.service.js';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import { PetRepository } from '../../src/pets/pet.repository.js';
import { HOUR_MS, WrongClock } from '../support/time/clock.js';

import { eventually } from '../support/eventually.js';
import { startApplication, type TestApplication, useApplication } from '../support/service/application.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { REQUESTS } from '../support/http/requests.js';

const EXPIRES_AT = new Date('2099-12-31T23:59:58.987Z');
const TEXT = 'Thu, 31 Dec 2099 23:59:58 GMT';
/** More requests than the test sends. */
const MANY = 100_000;

type Init = NonNullable<Parameters<typeof send>[1]>;

const store = useApplication();
afterEach(() => jest.restoreAllMocks());

describe('a key that expires while the process is suspended', () => {
  it('is rejected from then on, even if the response of a look-up waited meanwhile', async () => {
    const expiring = await store.issue({ expiresAt: new Date(store.clock.now() + 3000) });
    const other = await store.issue();
    const fetchStatus = async (key: string) => (await send(`${store.url}/v1/pets`, { key })).status;
    await eventually(async () => expect(await fetchStatus(expiring.key)).toBe(200));
    const { sql } = store.app.get(PrismaService);
    const query = sql.query.bind(sql);
    jest.spyOn(sql, 'query').mockImplementationOnce(async (...args: Parameters<typeof query>) => {
      const rows = await query(...args);
      store.clock.travel(5000);
      return rows;
    });
    expect(await fetchStatus(other.key)).toBe(200);
    expect(await fetchStatus(expiring.key)).toBe(401);
  });
});

describe('X-Api-Key-Expires', () => {
  let expiring: string;
  let lasting: string;

  beforeAll(async () => {
    ({ key: expiring } = await store.issue({ plan: 'business', expiresAt: EXPIRES_AT }));
    ({ key: lasting } = await store.issue({ plan: 'business' }));
  });

  const summarize = ({ status, headers }: HttpResponse) => [status, headers.get('x-api-key-expires')];

  /** Sends the request with a key that expires and with one that does not. */
  async function expectExpiry(status: number, path: string, init: Init = {}): Promise<void> {
    expect(summarize(await send(`${store.url}${path}`, { key: expiring, ...init }))).toEqual([status, TEXT]);
    expect(summarize(await send(`${store.url}${path}`, { key: lasting, ...init }))).toEqual([status, null]);
  }

  it.each(REQUESTS)(
    'is on the response to %s (%d) when the key expires, and only then',
    async (_what, status, path, init) => {
      await expectExpiry(status, path, init);
    },
  );

  it('is on 429 of an operation and of an unknown path', async () => {
    const limits = { perMinute: 1, perDay: 1 };
    const { key } = await store.issue({ plan: 'enterprise', ...limits, expiresAt: EXPIRES_AT });
    expect(summarize(await send(`${store.url}/v1/pets`, { key }))).toEqual([200, TEXT]);
    expect(summarize(await send(`${store.url}/v1/pets`, { key }))).toEqual([429, TEXT]);
    expect(summarize(await send(`${store.url}/v1/nothing`, { key }))).toEqual([429, TEXT]);
  });

  it('is on 500', async () => {
    jest.spyOn(store.app.get(PetRepository), 'page').mockRejectedValue(new Error('a defect'));
    await expectExpiry(500, '/v1/pets');
  });

  it('is present while the counters fail', async () => {
    await store.database.query('ALTER TABLE rate_limit_counters RENAME TO counters_away');
    try {
      await expectExpiry(503, '/v1/pets');
      await expectExpiry(503, '/v1/nothing');
    } finally {
      await store.database.query('ALTER TABLE counters_away RENAME TO rate_limit_counters');
    }
  });

  it('is not on 401 for an expired key, no key or an unknown key', async () => {
    const { id, key } = await store.issue();
    await store.database.query('UPDATE api_keys SET expires_at = to_timestamp($2) WHERE id = $1', [
      id,
      (store.clock.now() - 1) / 1000,
    ]);
    for (const path of ['/v1/pets', '/v1/nothing', '/admin/keys']) {
      expect(summarize(await send(`${store.url}${path}`, { key }))).toEqual([401, null]);
      expect(summarize(await send(`${store.url}${path}`))).toEqual([401, null]);
      expect(summarize(await send(`${store.url}${path}`, { key: 'letmein' }))).toEqual([401, null]);
    }
  });

  it('is not on responses that need no key', async () => {
    expect(summarize(await send(`${store.url}/livez`, { key: expiring }))).toEqual([200, null]);
    expect(summarize(await send(`${store.url}/nothing`, { key: expiring }))).toEqual([404, null]);
  });

  it.each(['expires_at', 'revoked_at'])(
    'can represent every value of %s that the database accepts',
    async (column) => {
      const { id } = await store.issue();
      for (const instant of ['infinity', '-infinity', '10000-01-01 00:00+00']) {
        await expect(
          store.database.query(`UPDATE api_keys SET ${column} = '${instant}' WHERE id = $1`, [id]),
        ).rejects.toThrow(`${column}_representable`);
      }
    },
  );

  it('is on 410 after the removal of an operation', async () => {
    store.clock.travelTo(new Date('2031-01-01T00:00:30Z'));
    await expectExpiry(410, '/v1/pets/1');
  });
});

describe.each([
  ['ahead', HOUR_MS],
  ['behind', -HOUR_MS],
])('an expiring key at a replica whose clock is an hour %s', (_direction, aheadMs) => {
  let replica: TestApplication;
  let key: string;
  let id: string;

  beforeAll(async () => {
    const clock = new WrongClock(aheadMs);
    const environment = { ANONYMOUS_LIMIT: MANY };
    replica = await startApplication({ clock, database: store.database, environment });
    clock.returnToPresent();
    ({ key, id } = await replica.issue({ plan: 'enterprise', perMinute: MANY, perDay: MANY }));
  });
  afterAll(() => replica.close());

  const expireIn = (seconds: number) =>
    replica.database.query(`UPDATE api_keys SET expires_at = now() + interval '${seconds} s' WHERE id = $1`, [
      id,
    ]);
  const expectStatus = (expected: number) =>
    eventually(async () => expect((await send(`${replica.url}/v1/pets`, { key })).status).toBe(expected));

  it('is valid until its expiry by the clock of the database, and not longer', async () => {
    await expireIn(600);
    await expectStatus(200);
    await expireIn(-600);
    await expectStatus(401);
    await expireIn(1);
    await expectStatus(200);
    await expectStatus(401);
  });

  it('ends by that clock when it is rotated, and cannot be rotated after its end', async () => {
    await expireIn(600);
    const keys = replica.app.get(KeyService);
    await keys.rotate(id, { overlapSeconds: 0.5 }, SERVICE);
    const [row] = await replica.database.query<{ left: number }>(
      `SELECT extract(epoch FROM expires_at - now())::float8 AS left FROM api_keys WHERE id = $1`,
      [id],
    );
    expect(row?.left).toBeLessThanOrEqual(0.5);
    await expectStatus(401);
    const rejected = keys.rotate(id, {}, SERVICE);
    await expect(rejected).rejects.toThrow('The key is expired, so it cannot be rotated.');
  });
});
