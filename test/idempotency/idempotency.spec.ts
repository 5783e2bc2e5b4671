import { createOnceText } from '../../src/idempotency/creation-statements.js';
import { stringify } from 'lossless-json';
import { PrismaService } from '../../src/database/access/prisma.service.js';
import { IdempotencyCleanup } from '../../src/idempotency/idempotency.cleanup.js';
import { Created } from '../../src/idempotency/creation-batcher.js';
import { OrderRepository } from '../../src/orders/order.repository.js';
import { PetRepository } from '../../src/pets/pet.repository.js';
import { DAY_MS } from '../support/time/clock.js';
import { startApplication, type TestApplication, useApplication } from '../support/service/application.js';
import { eventually } from '../support/eventually.js';
import { expectError } from '../support/http/expectations.js';
import { hold } from '../support/database/holding.js';
import { type HttpResponse, send } from '../support/http/http.js';
import { fakeIntervals } from '../support/time/intervals.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { plansMade } from '../support/database/queries.js';
import { UNLIMITED } from '../support/keys/keys.js';
import { whileBroken } from '../support/database/broken-table.js';

const PET = '{"name":"Rex","categoryId":7}';

const store = useApplication();
let quotaId: string;
let key: string;

beforeAll(async () => {
  ({ key, quotaId } = await store.issue(UNLIMITED));
});
beforeEach(async () => {
  store.clock.travelToMinuteStart();
  await store.database.query('TRUNCATE pets, stored_responses RESTART IDENTITY CASCADE');
});

interface Attempt {
  body?: unknown;
  path?: string;
  as?: string;
  at?: TestApplication;
}

function attempt(
  idempotencyKey: string,
  { body = PET, path = '/v1/pets', as = key, at = store }: Attempt = {},
): Promise<HttpResponse> {
  return send(`${at.url}${path}`, {
    method: 'POST',
    key: as,
    body,
    headers: { 'Idempotency-Key': idempotencyKey },
  });
}

async function count(table: 'pets' | 'orders' | 'stored_responses'): Promise<number> {
  const [row] = await store.database.query<{ count: number }>(`SELECT count(*)::int FROM ${table}`);
  return row?.count ?? NaN;
}

const replayed = ({ headers }: HttpResponse) => headers.get('idempotent-replayed');

describe('a POST with an Idempotency-Key', () => {
  it('creates once, and returns the stored response byte for byte when repeated', async () => {
    const body = '{"name":"R\u00e9x \ud83d\udc15 \u2028","categoryId":9223372036854775807,"status":"sold"}';
    const first = await attempt('a', { body });
    const again = await attempt('a', { body });
    for (const response of [first, again]) {
      expect([response.status, response.text]).toEqual([201, `{"id":1,${body.slice(1)}`]);
      expect(response.headers.get('location')).toBe('/v1/pets/1');
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
    expect([replayed(first), replayed(again)]).toEqual([null, 'true']);
    expect(await count('pets')).toBe(1);
  });

  it('counts as a request each time', async () => {
    const { key: narrow } = await store.issue({ plan: 'enterprise', perMinute: 2, perDay: 10 });
    for (const remaining of ['1', '0']) {
      const { headers } = await attempt('a', { as: narrow });
      expect(headers.get('x-ratelimit-remaining')).toBe(remaining);
    }
    expectError(await attempt('a', { as: narrow }), 429, 'rate_limit_exceeded');
  });

  it.each([
    ['another body', { body: '{"name":"Tom","categoryId":7}' }],
    ['the same fields in another order', { body: '{"categoryId":7,"name":"Rex"}' }],
    ['one more space', { body: `${PET} ` }],
  ])('returns 422 and creates nothing when repeated with %s', async (_name, other) => {
    await attempt('a');
    const response = await attempt('a', other);
    expectError(response, 422, 'idempotency_key_reused');
    expect(response.headers.get('location')).toBeNull();
    expect(await count('pets')).toBe(1);
  });

  it.each([
    ['/v1/pets', '/v1/store/orders'],
    ['/v1/store/orders', '/v1/pets'],
  ])(
    'returns 422 when repeated with the same body on another path: first %s, then %s',
    async (path, other) => {
      // Both operations accept this body, because each ignores the fields of the other.
      const body = '{"name":"Rex","categoryId":7,"petId":1,"quantity":1}';
      await attempt('pet-of-the-order');
      expect((await attempt('a', { path, body })).status).toBe(201);
      const before = [await count('pets'), await count('orders')];
      expectError(await attempt('a', { path: other, body }), 422, 'idempotency_key_reused');
      expect([await count('pets'), await count('orders')]).toEqual(before);
    },
  );

  it('returns the stored response for any query, and creates anew for the key of another quota', async () => {
    const first = await attempt('a');
    expect((await attempt('a', { path: '/v1/pets?x=1' })).text).toBe(first.text);
    expect(await count('pets')).toBe(1);
    const { key: other } = await store.issue(UNLIMITED);
    const response = await attempt('a', { as: other, body: '{"name":"Tom","categoryId":1}' });
    expect([response.status, replayed(response)]).toEqual([201, null]);
    expect(await count('pets')).toBe(2);
  });

  it.each([
    'x',
    '~'.repeat(255),
    '!"#$%&()*+,-./:;<=>?@[]^_`{|}',
    "'; DROP TABLE pets; --".replaceAll(' ', '_'),
  ])('accepts the key %s', async (idempotencyKey) => {
    expect((await attempt(idempotencyKey)).status).toBe(201);
    expect(replayed(await attempt(idempotencyKey))).toBe('true');
  });

  it.each([
    ['empty', ''],
    ['256 characters long', 'x'.repeat(256)],
    ['two words', 'a b'],
    ['beyond ASCII', '\u00e9'],
  ])('returns 400 and creates nothing when the key is %s', async (_name, idempotencyKey) => {
    const response = await attempt(idempotencyKey);
    expectError(response, 400, 'invalid_request', expect.stringMatching(/Idempotency-Key/));
    expect(await count('pets')).toBe(0);
  });

  it('stores no failure, so a failed attempt may be repeated', async () => {
    expectError(await attempt('a', { body: '{"name":""}' }), 400, 'invalid_request');
    const failed = await whileBroken(store.database, 'pets', () => attempt('a'));
    expectError(failed, 500, 'internal_error');
    expect(await count('stored_responses')).toBe(0);
    const response = await attempt('a');
    expect([response.status, replayed(response)]).toEqual([201, null]);
  });

  it('creates nothing when its response cannot be stored', async () => {
    await store.database.query(
      'ALTER TABLE stored_responses ADD CONSTRAINT full_disk CHECK (false) NOT VALID',
    );
    const response = await attempt('a');
    await store.database.query('ALTER TABLE stored_responses DROP CONSTRAINT full_disk');
    expectError(response, 500, 'internal_error');
    expect(response.headers.get('location')).toBeNull();
    expect(await count('pets')).toBe(0);
  });

  it('works for an order too, which has no Location, with the same bytes as without the header', async () => {
    await attempt('a');
    const path = '/v1/store/orders';
    const body = '{"petId":1,"quantity":2,"shipDate":"0001-01-01T00:00:00.1234Z"}';
    const plain = await send(`${store.url}${path}`, { method: 'POST', key, body });
    const first = await attempt('b', { path, body });
    expect([first.status, replayed(first)]).toEqual([201, null]);
    expect(first.text).toBe(plain.text.replace('"id":1', '"id":2'));
    const again = await attempt('b', { path, body });
    expect([again.status, again.text, replayed(again)]).toEqual([201, first.text, 'true']);
    expect(again.headers.get('location')).toBeNull();
    const { text: listed } = await send(`${store.url}${path}`, { key });
    expect(listed).toBe(`[${plain.text},${first.text}]`);
    expectError(await attempt('c', { path, body: '{"petId":9,"quantity":2}' }), 400, 'invalid_request');
  });

  it('ignores the header under /admin', async () => {
    const { key: admin } = await store.issue({ ...UNLIMITED, role: 'admin' });
    const order = { path: '/admin/keys', body: '{"name":"x","plan":"free"}', as: admin };
    const [first, second] = [await attempt('a', order), await attempt('a', order)];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.json.id).not.toBe(second.json.id);
  });
});

describe('concurrent requests with the same key', () => {
  it('create one animal across two replicas; the others get 409 or the stored response', async () => {
    const other = await startApplication({ database: store.database });
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => attempt('a', { at: index % 2 === 0 ? store : other })),
    );
    await other.close();
    expect(await count('pets')).toBe(1);
    const created = responses.filter(({ status }) => status === 201);
    expect(created.filter((response) => replayed(response) === null)).toHaveLength(1);
    expect(created.map(({ text }) => text)).toEqual(
      created.map(() => '{"id":1,"name":"Rex","categoryId":7}'),
    );
    const others = responses.filter(({ status }) => status !== 201);
    others.forEach((response) => expectError(response, 409, 'idempotency_conflict'));
  });

  it('get 409 immediately while the first is in flight', async () => {
    const holder = await hold(store.database.url, 'LOCK TABLE pets IN EXCLUSIVE MODE');
    const first = attempt('a');
    await eventually(() => expectLocksWaitedFor(store.database, 1));
    const second = await attempt('a');
    expectError(second, 409, 'idempotency_conflict');
    expect(second.headers.get('retry-after')).toBe('1');
    await holder.letGo();
    expect((await first).status).toBe(201);
    expect(replayed(await attempt('a'))).toBe('true');
  });
});

describe('creations in one batch', () => {
  const idempotent = (idempotencyKey: string) => ({
    quotaId,
    key: idempotencyKey,
    fingerprint: Buffer.alloc(32),
    respondWith,
  });
  const respondWith = (record: { id: bigint }) => new Created(stringify(record)!, `/v1/pets/${record.id}`);

  it('are one statement, with and without a key', async () => {
    const pets = store.app.get(PetRepository);
    const name = (number: number) => `animal ${number}`;
    const statuses = [undefined, 'sold', 'available'] as const;
    const makePet = (number: number) => ({
      name: name(number),
      categoryId: BigInt.asIntN(64, 2n ** 63n - BigInt(number)),
      status: statuses[number % 3],
    });
    const makeKey = (number: number) => (number % 2 === 0 ? null : idempotent(`${number}`));
    const numbers = Array.from({ length: 200 }, (_, number) => number);
    const created = await Promise.all(numbers.map((number) => pets.create(makePet(number), makeKey(number))));
    const expectedBody = (number: number) => {
      const { categoryId, status } = makePet(number);
      const fields = `"id":${number + 1},"name":"${name(number)}","categoryId":${categoryId}`;
      return `{${fields}${status === undefined ? '' : `,"status":"${status}"`}}`;
    };
    expect(created).toEqual(numbers.map((number) => ({ id: BigInt(number + 1), ...makePet(number) })));
    const stored = await store.database.query<{ name: string; body: string | null }>(
      `SELECT name, body FROM pets LEFT JOIN stored_responses ON location = '/v1/pets/' || id ORDER BY id`,
    );
    expect(stored).toEqual(
      numbers.map((number) => ({ name: name(number), body: makeKey(number) && expectedBody(number) })),
    );
    const transactions = await store.database.query(
      'SELECT xmin FROM pets UNION SELECT xmin FROM stored_responses',
    );
    expect(transactions).toHaveLength(1);
  });

  it('are created, replayed or rejected one by one', async () => {
    const pets = store.app.get(PetRepository);
    const orders = store.app.get(OrderRepository);
    const rex = { name: 'Rex', categoryId: 1n };
    await pets.create(rex, idempotent('a'));
    const other = { ...idempotent('a'), fingerprint: Buffer.alloc(32, 1) };
    const outcomes = await Promise.allSettled([
      pets.create(rex, idempotent('b')),
      pets.create(rex, idempotent('a')),
      pets.create(rex, null),
    ]);
    expect(outcomes).toMatchObject([
      { value: { id: expect.any(BigInt) } },
      { value: { body: '{"id":1,"name":"Rex","categoryId":1}', location: '/v1/pets/1' } },
      { value: { id: expect.any(BigInt) } },
    ]);
    const makeOrder = (petId: bigint) => ({ petId, quantity: 1 });
    expect(
      await Promise.allSettled([
        orders.create(quotaId, makeOrder(1n), null),
        orders.create(quotaId, makeOrder(99n), null),
        orders.create(quotaId, makeOrder(99n), idempotent('d')),
        orders.create(quotaId, makeOrder(1n), other),
        orders.create(quotaId, makeOrder(1n), idempotent('e')),
      ]),
    ).toMatchObject([
      { value: { id: expect.any(BigInt) } },
      { reason: { code: 'invalid_request' } },
      { reason: { code: 'invalid_request' } },
      { reason: { code: 'idempotency_key_reused' } },
      { value: { id: expect.any(BigInt) } },
    ]);
    expect([await count('pets'), await count('orders')]).toEqual([3, 2]);
    const storedKeys = await store.database.query<{ key: string }>(
      'SELECT idempotency_key AS key FROM stored_responses ORDER BY key',
    );
    expect(storedKeys.map((row) => row.key)).toEqual(['a', 'b', 'e']);
  });

  it('are not delayed by one whose key is in use on another replica', async () => {
    const holder = await hold(
      store.database.url,
      `SELECT pg_advisory_xact_lock(hashtextextended('${quotaId} a', 0))`,
    );
    try {
      const [sameKey, ...others] = await Promise.all([attempt('a'), attempt('b'), attempt('c')]);
      expectError(sameKey, 409, 'idempotency_conflict');
      expect(others.map(({ status }) => status)).toEqual([201, 201]);
    } finally {
      await holder.letGo();
    }
    expect([(await attempt('a')).status, await count('pets')]).toEqual([201, 3]);
  });

  it('are planned by PostgreSQL only a few times', async () => {
    const single = await startApplication({ environment: { DATABASE_POOL_SIZE: 2 } });
    const issued = await single.issue(UNLIMITED);
    const [pets, orders] = [single.app.get(PetRepository), single.app.get(OrderRepository)];
    for (let number = 0; number < 20; number += 1) {
      const once = { ...idempotent(`${number}`), quotaId: issued.quotaId };
      await pets.create({ name: 'Rex', categoryId: 1n }, null);
      await pets.create({ name: 'Rex', categoryId: 1n }, once);
      await orders.create(issued.quotaId, { petId: 1n, quantity: 1 }, null);
      await orders.create(issued.quotaId, { petId: 1n, quantity: 1 }, { ...once, key: `order ${number}` });
    }
    const plans = await plansMade(single, '^(add-pets|place-orders)');
    await single.close();
    expect(plans).toHaveLength(6);
    expect(plans.map(([, ...counts]) => counts)).toEqual(plans.map(() => [5, 15]));
  });

  it('look up what a record belongs to by its identifier, however many there are', async () => {
    await store.database.query(
      `INSERT INTO pets (name, category_id) SELECT 'Rex', 7 FROM generate_series(1, 20000)`,
    );
    await store.database.query('ANALYZE pets');
    const text = createOnceText('orders', [
      { name: 'quota_id', type: 'uuid' },
      { name: 'pet_id', type: 'bigint', refersTo: 'pets' },
    ]);
    const plan = await store.database.query(`EXPLAIN (GENERIC_PLAN) ${text}`);
    const lines = plan.map((line) => Object.values(line as object).join('')).join('\n');
    expect(lines).toContain('pets_pkey');
    expect(lines).not.toContain('Seq Scan on pets');
  });
});

describe('creations that wait for a lock', () => {
  it('delay no other request, and get 503 in the end', async () => {
    const { key: fresh } = await store.issue(UNLIMITED);
    await store.database.query(`INSERT INTO pets (name, category_id) VALUES ('Rex', 7)`);
    const holder = await hold(store.database.url, 'LOCK TABLE pets IN EXCLUSIVE MODE');
    let isHeld = true;
    const attempts = Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const path = index % 2 === 0 ? '/v1/pets' : '/v1/store/orders';
        const body = index % 2 === 0 ? PET : '{"petId":1,"quantity":1}';
        return attempt(`k${index}`, { path, body });
      }),
    ).finally(() => (isHeld = false));
    try {
      await eventually(() => expectLocksWaitedFor(store.database, 2));

      for (const path of ['/v1/rate-limit', '/v1/pets']) {
        expect((await send(`${store.url}${path}`, { key: fresh })).status).toBe(200);
      }
      expect(isHeld).toBe(true);
      for (const response of await attempts) {
        expectError(response, 503, 'service_unavailable');
        expect(response.headers.get('retry-after')).toBe('1');
      }
    } finally {
      await holder.letGo();
    }
    expect([await count('pets'), await count('orders'), await count('stored_responses')]).toEqual([1, 0, 0]);
  });
});

describe('a stored response', () => {
  it('is returned for 24 hours, after which the key can be used again', async () => {
    const other = { body: '{"name":"Tom","categoryId":7}' };
    for (const created of [{}, other]) {
      const first = await attempt('a', created);
      expect([first.status, replayed(first)]).toEqual([201, null]);
      store.clock.travel(DAY_MS - 1000);
      const again = await attempt('a', created);
      expect([again.text, replayed(again)]).toEqual([first.text, 'true']);
      expect(again.headers.get('location')).toBe(first.headers.get('location'));
      expectError(await attempt('a', created === other ? {} : other), 422, 'idempotency_key_reused');
      store.clock.travel(2000);
    }
    expect([await count('pets'), await count('stored_responses')]).toEqual([2, 1]);
  });

  it('is deleted once it has expired, and not before', async () => {
    await attempt('a');
    store.clock.travel(DAY_MS / 2);
    await attempt('b');
    store.clock.travel(DAY_MS / 2 + 1000);
    await store.app.get(IdempotencyCleanup).deleteExpired();
    expect(await store.database.query('SELECT idempotency_key AS key FROM stored_responses')).toEqual([
      { key: 'b' },
    ]);
  });

  it('is deleted by the service itself, which looks for expired ones every minute, in parts', async () => {
    fakeIntervals();
    const deletions = jest
      .spyOn(IdempotencyCleanup.prototype, 'deleteExpired')
      .mockResolvedValueOnce(true)
      .mockResolvedValueOnce(false);
    const cleanup = new IdempotencyCleanup(store.app.get(PrismaService));
    cleanup.onModuleInit();
    jest.advanceTimersByTime(60_000);
    await eventually(async () => expect(deletions).toHaveBeenCalledTimes(2));
    await cleanup.onApplicationShutdown();
    jest.useRealTimers();
    jest.restoreAllMocks();
    expect(deletions).toHaveBeenCalledTimes(2);
  });
});
