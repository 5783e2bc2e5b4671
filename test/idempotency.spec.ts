import { KeptAnswersSweeper } from '../src/idempotency/kept-answers.sweeper.js';
import { KeptAnswers } from '../src/idempotency/kept-answers.js';
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
let key: string;

beforeAll(async () => {
  store = await startApplication();
  ({ key } = await store.issue(UNLIMITED));
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

it('those that wait for what is locked hold up nobody else, and are told 503 in the end', async () => {
  const { key: fresh } = await store.issue(UNLIMITED);
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
      expect(waiting).toHaveLength(3);
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
  expect([await count('pets'), await count('orders'), await count('idempotent_answers')]).toEqual([0, 0, 0]);
});

describe('a kept answer', () => {
  it('is given for 24 hours, and then the key is as new', async () => {
    await attempt('a');
    store.clock.travel(DAY_MS - 1000);
    expect(replayed(await attempt('a'))).toBe('true');
    store.clock.travel(2000);
    const fresh = await attempt('a', { body: '{"name":"Tom","categoryId":7}' });
    expect([fresh.status, replayed(fresh)]).toEqual([201, null]);
    expect(await count('pets')).toBe(2);
    expect(await count('idempotent_answers')).toBe(1);
  });

  it('goes when it is too old, and not before', async () => {
    await attempt('a');
    store.clock.travel(DAY_MS / 2);
    await attempt('b');
    store.clock.travel(DAY_MS / 2 + 1000);
    await store.app.get(KeptAnswers).sweep();
    expect(await store.database.query('SELECT key FROM idempotent_answers')).toEqual([{ key: 'b' }]);
  });

  it('is looked for every minute by the service itself, in parts', async () => {
    fakeIntervals();
    const sweeps = jest
      .spyOn(KeptAnswers.prototype, 'sweep')
      .mockResolvedValueOnce(true)
      .mockResolvedValueOnce(false);
    const sweeper = new KeptAnswersSweeper(store.app.get(KeptAnswers));
    sweeper.onModuleInit();
    jest.advanceTimersByTime(60_000);
    await eventually(async () => expect(sweeps).toHaveBeenCalledTimes(2));
    await sweeper.onApplicationShutdown();
    jest.useRealTimers();
    jest.restoreAllMocks();
    expect(sweeps).toHaveBeenCalledTimes(2);
  });
});
