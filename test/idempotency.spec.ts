import { namedStatement, QueryRunner } from '../src/database/query-runner.js';
import { PrismaService } from '../src/database/prisma.service.js';
import { IdempotencyCleanup } from '../src/idempotency/idempotency.cleanup.js';
import type { IdempotentRequest } from '../src/idempotency/creation-batcher.js';
import { OrderRepository } from '../src/orders/order.repository.js';
import { PetRepository } from '../src/pets/pet.repository.js';
import { startApplication, type TestApplication } from './support/application.js';
import { eventually } from './support/eventually.js';
import { expectError, expectRateLimitHeaders } from './support/expectations.js';
import { hold } from './support/holding.js';
import { type Answer, send } from './support/http.js';
import { fakeIntervals } from './support/intervals.js';

const UNLIMITED = { plan: 'enterprise', perMinute: 100_000, perDay: 100_000 };
const PET = '{"name":"Rex","categoryId":7}';
const DAY_MS = 86_400_000;

let store: TestApplication;
let quotaId: string;
let key: string;

beforeAll(async () => {
  store = await startApplication();
  ({ key, quotaId } = await store.issue(UNLIMITED));
});
afterAll(() => store.close());
beforeEach(async () => {
  store.clock.travelToMinuteStart();
  await store.database.query('TRUNCATE pets, orders, idempotent_answers RESTART IDENTITY');
});

interface Attempt {
  body?: unknown;
  path?: string;
  as?: string;
}

function attempt(
  idempotencyKey: string,
  { body = PET, path = '/v1/pets', as = key }: Attempt = {},
): Promise<Answer> {
  return send(`${store.url}${path}`, {
    method: 'POST',
    key: as,
    body,
    headers: { 'Idempotency-Key': idempotencyKey },
  });
}

async function count(table: 'pets' | 'orders' | 'idempotent_answers'): Promise<number> {
  const [row] = await store.database.query<{ count: number }>(`SELECT count(*)::int FROM ${table}`);
  return row?.count ?? NaN;
}

const replayed = ({ headers }: Answer) => headers.get('idempotent-replayed');

describe('a POST with an Idempotency-Key', () => {
  it('creates, and the same again is given the first answer again, to the letter', async () => {
    const first = await attempt('a');
    expect(first.status).toBe(201);
    expect(first.text).toBe('{"id":1,"name":"Rex","categoryId":7}');
    expect(replayed(first)).toBeNull();
    const again = await attempt('a');
    expect([again.status, again.text]).toEqual([201, first.text]);
    for (const name of ['location', 'content-type']) {
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    }
    expect(first.headers.get('location')).toBe('/v1/pets/1');
    expect(replayed(again)).toBe('true');
    expectRateLimitHeaders(again);
    expect(await count('pets')).toBe(1);
  });

  it('is answered as one without, byte for byte', async () => {
    const plain = await send(`${store.url}/v1/pets`, { method: 'POST', key, body: PET });
    const keyed = await attempt('a');
    expect(keyed.text).toBe(plain.text.replace('"id":1', '"id":2'));
    expect(keyed.headers.get('content-type')).toBe(plain.headers.get('content-type'));
  });

  it('counts as a request each time', async () => {
    const { key: narrow } = await store.issue({ plan: 'enterprise', perMinute: 3, perDay: 10 });
    const remaining = [];
    for (let sent = 0; sent < 3; sent += 1) {
      remaining.push((await attempt('a', { as: narrow })).headers.get('x-ratelimit-remaining'));
    }
    expect(remaining).toEqual(['2', '1', '0']);
    expectError(await attempt('a', { as: narrow }), 429, 'rate_limit_exceeded');
  });

  it('keeps int64 exact in the answer that is given again', async () => {
    const body = '{"name":"R\u00e9x \ud83d\udc15 \u2028","categoryId":9223372036854775807,"status":"sold"}';
    const first = await attempt('a', { body });
    expect(first.text).toContain('"categoryId":9223372036854775807,"status":"sold"');
    expect((await attempt('a', { body })).text).toBe(first.text);
  });

  it.each([
    ['another body', { body: '{"name":"Tom","categoryId":7}' }],
    ['the same body written otherwise', { body: '{"categoryId":7,"name":"Rex"}' }],
    ['a space more', { body: `${PET} ` }],
    ['another path', { path: '/v1/store/orders', body: '{"petId":1,"quantity":1}' }],
  ])('is 422 with %s, and creates nothing', async (_name, other) => {
    await attempt('a');
    const answer = await attempt('a', other);
    expectError(answer, 422, 'idempotency_key_reused');
    expectRateLimitHeaders(answer);
    expect(answer.headers.get('location')).toBeNull();
    expect([await count('pets'), await count('orders')]).toEqual([1, 0]);
  });

  it.each([
    ['/v1/pets', '/v1/store/orders'],
    ['/v1/store/orders', '/v1/pets'],
  ])('is 422 with the same body on another path: first %s, then %s', async (path, other) => {
    // Both operations accept this body, as each ignores the fields of the other.
    const body = '{"name":"Rex","categoryId":7,"petId":1,"quantity":1}';
    await attempt('pet-of-the-order');
    const first = await attempt('a', { path, body });
    expect(first.status).toBe(201);
    const before = [await count('pets'), await count('orders')];
    expectError(await attempt('a', { path: other, body }), 422, 'idempotency_key_reused');
    expect([await count('pets'), await count('orders')]).toEqual(before);
    expect((await attempt('b', { path: other, body })).status).toBe(201);
    expect((await attempt('a', { path, body })).text).toBe(first.text);
  });

  it('is the same whatever the query, the headers, and the key of the quota are', async () => {
    const first = await attempt('a');
    expect((await attempt('a', { path: '/v1/pets?x=1' })).text).toBe(first.text);
    expect(await count('pets')).toBe(1);
  });

  it('belongs to the quota: another may use the same', async () => {
    const { key: other } = await store.issue(UNLIMITED);
    await attempt('a');
    const answer = await attempt('a', { as: other, body: '{"name":"Tom","categoryId":1}' });
    expect([answer.status, replayed(answer)]).toEqual([201, null]);
    expect(await count('pets')).toBe(2);
  });

  it.each([
    'x',
    '~'.repeat(255),
    '!"#$%&()*+,-./:;<=>?@[]^_`{|}',
    "'; DROP TABLE pets; --".replaceAll(' ', '_'),
  ])('may be %s', async (idempotencyKey) => {
    expect((await attempt(idempotencyKey)).status).toBe(201);
    expect(replayed(await attempt(idempotencyKey))).toBe('true');
  });

  it.each([
    ['empty', ''],
    ['256 characters long', 'x'.repeat(256)],
    ['two words', 'a b'],
    ['beyond ASCII', '\u00e9'],
  ])('is 400 when it is %s, and creates nothing', async (_name, idempotencyKey) => {
    const answer = await attempt(idempotencyKey);
    expectError(answer, 400, 'invalid_request', expect.stringMatching(/Idempotency-Key/));
    expectRateLimitHeaders(answer);
    expect(await count('pets')).toBe(0);
  });

  it('keeps no failure: what was refused may be tried again', async () => {
    expectError(await attempt('a', { body: '{"name":""}' }), 400, 'invalid_request');
    await store.database.query('ALTER TABLE pets RENAME TO gone');
    expectError(await attempt('a'), 500, 'internal_error');
    await store.database.query('ALTER TABLE gone RENAME TO pets');
    expect(await count('idempotent_answers')).toBe(0);
    const answer = await attempt('a');
    expect([answer.status, replayed(answer)]).toEqual([201, null]);
  });

  it('creates nothing when its answer cannot be kept', async () => {
    await store.database.query(
      'ALTER TABLE idempotent_answers ADD CONSTRAINT full_disk CHECK (false) NOT VALID',
    );
    const answer = await attempt('a');
    await store.database.query('ALTER TABLE idempotent_answers DROP CONSTRAINT full_disk');
    expectError(answer, 500, 'internal_error');
    expect(answer.headers.get('location')).toBeNull();
    expect(await count('pets')).toBe(0);
  });

  it('of an order does the same, which has no Location', async () => {
    await attempt('a');
    const order = {
      path: '/v1/store/orders',
      body: '{"petId":1,"quantity":2,"shipDate":"2027-01-01T00:00:00Z"}',
    };
    const first = await attempt('b', order);
    expect([first.status, replayed(first)]).toEqual([201, null]);
    const again = await attempt('b', order);
    expect([again.status, again.text, replayed(again)]).toEqual([201, first.text, 'true']);
    expect(again.headers.get('location')).toBeNull();
    expect(await count('orders')).toBe(1);
    const unknown = { ...order, body: '{"petId":9,"quantity":2}' };
    expectError(await attempt('c', unknown), 400, 'invalid_request');
  });

  it('of an order is answered as one without, byte for byte', async () => {
    await attempt('a');
    const path = '/v1/store/orders';
    const body = '{"petId":1,"quantity":2,"shipDate":"0001-01-01T00:00:00.1234Z"}';
    const plain = await send(`${store.url}${path}`, { method: 'POST', key, body });
    const keyed = await attempt('b', { path, body });
    expect(keyed.text).toBe(plain.text.replace('"id":1', '"id":2'));
    expect((await attempt('b', { path, body })).text).toBe(keyed.text);
    const { text: listed } = await send(`${store.url}${path}`, { key });
    expect(listed).toBe(`[${plain.text},${keyed.text}]`);
  });

  it('of an order of an unknown animal is 400 until there is one, and 422 where the key came with another order', async () => {
    await attempt('a');
    const path = '/v1/store/orders';
    const [known, unknown] = ['{"petId":1,"quantity":1}', '{"petId":2,"quantity":1}'];
    expect((await attempt('b', { path, body: known })).status).toBe(201);
    expectError(await attempt('b', { path, body: unknown }), 422, 'idempotency_key_reused');
    expectError(await attempt('c', { path, body: unknown }), 400, 'invalid_request');
    await store.database.query('TRUNCATE pets, orders');
    expect(replayed(await attempt('b', { path, body: known }))).toBe('true');
    await attempt('d', { body: '{"name":"Tom","categoryId":7}' });
    const placed = await attempt('c', { path, body: unknown });
    expect([placed.status, replayed(placed)]).toEqual([201, null]);
  });

  it('under /admin means nothing', async () => {
    const { key: admin } = await store.issue({ ...UNLIMITED, role: 'admin' });
    const order = { path: '/admin/keys', body: '{"name":"x","plan":"free"}', as: admin };
    const [first, second] = [await attempt('a', order), await attempt('a', order)];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.json.id).not.toBe(second.json.id);
  });
});

describe('twins', () => {
  it('make one, however many come at once; the others are told to wait, or are given its answer', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => attempt('a')));
    expect(await count('pets')).toBe(1);
    expect(answers.filter((answer) => answer.status === 201 && replayed(answer) === null)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expectError(answer, 409, 'idempotency_conflict');
      expect(answer.headers.get('retry-after')).toBe('1');
      expectRateLimitHeaders(answer);
    }
    for (const answer of answers.filter(({ status }) => status === 201)) {
      expect(answer.text).toBe('{"id":1,"name":"Rex","categoryId":7}');
    }
  });

  it('of two replicas make one', async () => {
    const other = await startApplication({ database: store.database });
    const body = '{"name":"Tom","categoryId":1}';
    const sendTo = (url: string) =>
      send(`${url}/v1/pets`, { method: 'POST', key, body, headers: { 'Idempotency-Key': 'a' } });
    const answers = await Promise.all([store, other, store, other].map(({ url }) => sendTo(url)));
    await other.close();
    expect(await count('pets')).toBe(1);
    expect(new Set(answers.map(({ status }) => status))).not.toContain(500);
    expect(answers.filter((answer) => answer.status === 201 && replayed(answer) === null)).toHaveLength(1);
  });

  it('are told at once that the first is under way', async () => {
    const holder = await hold(store.database.url, 'LOCK TABLE pets IN EXCLUSIVE MODE');
    const first = attempt('a');
    await eventually(async () => {
      const waiting = await store.database.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      expect(waiting).toHaveLength(1);
    });
    expectError(await attempt('a'), 409, 'idempotency_conflict');
    await holder.letGo();
    expect((await first).status).toBe(201);
    expect(replayed(await attempt('a'))).toBe('true');
  });
});

describe('creations that are queued at the same time', () => {
  const idempotent = (idempotencyKey: string): IdempotentRequest => ({
    quotaId,
    key: idempotencyKey,
    fingerprint: Buffer.alloc(32),
    bodyAfterId: '}',
    pathBeforeId: null,
  });

  it('are one statement, with and without a key', async () => {
    const pets = store.app.get(PetRepository);
    const name = (number: number) => `animal ${number}`;
    const ids = await Promise.all(
      Array.from({ length: 200 }, (_, number) =>
        pets.create(
          { name: name(number), categoryId: 1n },
          number % 2 === 0 ? null : idempotent(`${number}`),
        ),
      ),
    );
    expect(ids).toEqual(Array.from({ length: 200 }, (_, number) => BigInt(number + 1)));
    const stored = await store.database.query<{ name: string; body: string | null }>(
      `SELECT name, body FROM pets LEFT JOIN idempotent_answers ON body = '{"id":' || id || '}' ORDER BY id`,
    );
    expect(stored).toEqual(
      ids.map((_id, number) => ({
        name: name(number),
        body: number % 2 === 0 ? null : `{"id":${number + 1}}`,
      })),
    );
    const transactions = await store.database.query(
      'SELECT xmin FROM pets UNION SELECT xmin FROM idempotent_answers',
    );
    expect(transactions).toHaveLength(1);
  });

  it('create, replay and refuse each by itself', async () => {
    const pets = store.app.get(PetRepository);
    const orders = store.app.get(OrderRepository);
    const rex = { name: 'Rex', categoryId: 1n };
    await pets.create(rex, idempotent('a'));
    const other = { ...idempotent('a'), fingerprint: Buffer.alloc(32, 1) };
    const outcomes = await Promise.allSettled([
      pets.create(rex, idempotent('b')),
      pets.create({ ...rex, name: '' }, idempotent('c')),
      pets.create(rex, idempotent('a')),
      pets.create(rex, null),
    ]);
    expect(outcomes).toMatchObject([
      { value: expect.any(BigInt) },
      { reason: { code: '23514' } },
      { value: { body: '{"id":1}', location: null } },
      { value: expect.any(BigInt) },
    ]);
    const orderOf = (petId: bigint) => ({ petId, quantity: 1 });
    expect(
      await Promise.allSettled([
        orders.create(quotaId, orderOf(1n), null),
        orders.create(quotaId, orderOf(99n), null),
        orders.create(quotaId, orderOf(99n), idempotent('d')),
        orders.create(quotaId, orderOf(1n), other),
        orders.create(quotaId, orderOf(1n), idempotent('e')),
      ]),
    ).toMatchObject([
      { value: expect.any(BigInt) },
      { reason: { code: 'invalid_request' } },
      { reason: { code: 'invalid_request' } },
      { reason: { code: 'idempotency_key_reused' } },
      { value: expect.any(BigInt) },
    ]);
    expect([await count('pets'), await count('orders')]).toEqual([3, 2]);
    const kept = await store.database.query<{ key: string }>(
      'SELECT key FROM idempotent_answers ORDER BY key',
    );
    expect(kept.map((row) => row.key)).toEqual(['a', 'b', 'e']);
  });

  it('are not held up by one whose twin is in flight on another replica, or on one of the release before', async () => {
    const holder = await hold(
      store.database.url,
      `SELECT pg_advisory_xact_lock(hashtextextended('${quotaId} a', 0))`,
    );
    try {
      const [twin, ...others] = await Promise.all([attempt('a'), attempt('b'), attempt('c')]);
      expectError(twin, 409, 'idempotency_conflict');
      expect(others.map(({ status }) => status)).toEqual([201, 201]);
    } finally {
      await holder.letGo();
    }
    expect([(await attempt('a')).status, await count('pets')]).toEqual([201, 3]);
  });

  it('are planned by PostgreSQL a few times at first, and then never again', async () => {
    const lone = await startApplication({ environment: { DATABASE_POOL_SIZE: 2 } });
    const issued = await lone.issue(UNLIMITED);
    const [pets, orders] = [lone.app.get(PetRepository), lone.app.get(OrderRepository)];
    for (let number = 0; number < 20; number += 1) {
      const once = { ...idempotent(`${number}`), quotaId: issued.quotaId };
      await pets.create({ name: 'Rex', categoryId: 1n }, null);
      await pets.create({ name: 'Rex', categoryId: 1n }, once);
      await orders.create(issued.quotaId, { petId: 1n, quantity: 1 }, null);
      await orders.create(issued.quotaId, { petId: 1n, quantity: 1 }, { ...once, key: `order ${number}` });
    }
    const plans = await lone.app.get(QueryRunner).run<[name: string, custom: number, generic: number]>(
      namedStatement(
        'plans',
        `SELECT name, custom_plans::int, generic_plans::int FROM pg_prepared_statements
          WHERE name ~ '^(add-pets|place-orders)' ORDER BY name`,
      ),
      [],
    );
    await lone.close();
    expect(plans).toHaveLength(4);
    expect(plans.map(([, ...counts]) => counts)).toEqual(plans.map(() => [5, 15]));
  });
});

it('those that wait for what is locked hold up nobody else, and are told 503 in the end', async () => {
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
    await eventually(async () => {
      const waiting = await store.database.query(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      expect(waiting).not.toHaveLength(0);
    });
    for (const path of ['/v1/rate-limit', '/v1/pets']) {
      expect((await send(`${store.url}${path}`, { key: fresh })).status).toBe(200);
    }
    expect(isHeld).toBe(true);
    for (const answer of await attempts) {
      expectError(answer, 503, 'service_unavailable');
      expect(answer.headers.get('retry-after')).toBe('1');
      expectRateLimitHeaders(answer);
    }
  } finally {
    await holder.letGo();
  }
  expect([await count('pets'), await count('orders'), await count('idempotent_answers')]).toEqual([1, 0, 0]);
});

describe('a kept answer', () => {
  it('is given for 24 hours, and then the key is as new', async () => {
    await attempt('a');
    store.clock.travel(DAY_MS - 1000);
    expect(replayed(await attempt('a'))).toBe('true');
    store.clock.travel(2000);
    const other = { body: '{"name":"Tom","categoryId":7}' };
    const fresh = await attempt('a', other);
    expect([fresh.status, replayed(fresh)]).toEqual([201, null]);
    expect(await count('pets')).toBe(2);
    expect(await count('idempotent_answers')).toBe(1);
    store.clock.travel(DAY_MS - 1000);
    const again = await attempt('a', other);
    expect([again.status, again.text, replayed(again)]).toEqual([201, fresh.text, 'true']);
    expect(again.headers.get('location')).toBe(fresh.headers.get('location'));
    expectError(await attempt('a'), 422, 'idempotency_key_reused');
    expect(await count('pets')).toBe(2);
  });

  it('goes when it is too old, and not before', async () => {
    await attempt('a');
    store.clock.travel(DAY_MS / 2);
    await attempt('b');
    store.clock.travel(DAY_MS / 2 + 1000);
    await store.app.get(IdempotencyCleanup).deleteExpired();
    expect(await store.database.query('SELECT key FROM idempotent_answers')).toEqual([{ key: 'b' }]);
  });

  it('is looked for every minute by the service itself, in parts', async () => {
    fakeIntervals();
    const sweeps = jest
      .spyOn(IdempotencyCleanup.prototype, 'deleteExpired')
      .mockResolvedValueOnce(true)
      .mockResolvedValueOnce(false);
    const sweeper = new IdempotencyCleanup(store.app.get(PrismaService), store.clock);
    sweeper.onModuleInit();
    jest.advanceTimersByTime(60_000);
    await eventually(async () => expect(sweeps).toHaveBeenCalledTimes(2));
    await sweeper.onApplicationShutdown();
    jest.useRealTimers();
    jest.restoreAllMocks();
    expect(sweeps).toHaveBeenCalledTimes(2);
  });
});
