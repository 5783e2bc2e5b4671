import { generateApiKey, hashApiKey, keyHints } from '../src/auth/api-key.js';
import type { IssuedKey } from '../src/admin/key.schemas.js';
import { CounterStore } from '../src/rate-limit/stores/counter-store.js';
import { startApplication, type TestApplication } from './support/application.js';
import { createDatabase, type TestDatabase } from './support/database.js';
import { expectError, expectRateLimitHeaders } from './support/expectations.js';
import { type Answer, send } from './support/http.js';

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Half a minute into a minute, and so late in its second that no rounding is at its edge. */
const HALF_PAST = new Date('2027-03-05T12:34:30.100Z');
/** The end of a minute's ban that began then, in whole seconds. */
const BAN_END = '2027-03-05T12:35:31Z';
const SECONDS_OF_DAY_LEFT = 41_130;

const unixSeconds = (instant: string) => String(Date.parse(instant) / 1000);
const header = (name: string) => (answer: Answer | undefined) => answer?.headers.get(name);
const retryAfter = (answer: Answer | undefined) => Number(header('retry-after')(answer));
const codeOf = ({ status, json }: Answer): string => (status === 429 ? json.code : String(status));
const refusalsLeft = ({ json }: Answer) =>
  Number(/\b(\d+) refusals? remains? within this minute\b/.exec(json.message)?.[1]);
const times = (count: number, text: string) => Array<string>(count).fill(text);
const descending = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, index) => from - index);

let database: TestDatabase;
let store: TestApplication;
let replica: TestApplication;

beforeAll(async () => {
  database = await createDatabase();
  [store, replica] = await Promise.all([startApplication({ database }), startApplication({ database })]);
});
beforeEach(() => travelTo(HALF_PAST));
afterAll(async () => {
  await Promise.all([store.close(), replica.close()]);
  await database.drop();
});

function travelTo(instant: Date): void {
  store.clock.travelTo(instant);
  replica.clock.travelTo(instant);
}

/** A key whose quota has its own two numbers. */
const issue = (perMinute: number, perDay = 100_000) => store.issue({ plan: 'enterprise', perMinute, perDay });

const ask = ({ key }: IssuedKey, from = store) => send(`${from.url}/v1/pets`, { key });

/** So many requests one after another, all at this instant: a slow machine must not reach the next second. */
async function askTimes(issued: IssuedKey, count: number, from = store): Promise<Answer[]> {
  const instant = new Date(store.clock.now());
  const answers: Answer[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    travelTo(instant);
    answers.push(await ask(issued, from));
  }
  return answers;
}

/** Sends until the key is banned, and gives the answer that says so first. */
async function provoke(issued: IssuedKey): Promise<Answer> {
  const answers = await askTimes(issued, (issued.perMinute ?? 0) * 2);
  expect(answers.map(codeOf)).toEqual([
    ...times(issued.perMinute ?? 0, '200'),
    ...times((issued.perMinute ?? 0) - 1, 'rate_limit_exceeded'),
    'api_key_banned',
  ]);
  return answers.at(-1) as Answer;
}

/** The instant at which a ban is over, from the answer that started it. */
const endOf = (starter: Answer) => new Date(Number(header('x-ratelimit-reset')(starter)) * SECOND_MS);

/** Of whom the counters are. */
async function subjectOf({ id }: IssuedKey): Promise<string> {
  const [row] = await database.query<{ subject: string }>(
    `SELECT 'quota:' || quota_id AS subject FROM api_keys WHERE id = $1`,
    [id],
  );
  return row?.subject ?? '';
}

async function counterOf(issued: IssuedKey): Promise<Record<string, unknown> | undefined> {
  const [row] = await database.query(
    'SELECT minute_used, day_used, refusals, banned_until, ban_step FROM rate_limit_counters WHERE subject = $1',
    [await subjectOf(issued)],
  );
  return row;
}

describe('before a ban', () => {
  it('each refusal says how many remain, and waiting as it tells prevents the ban', async () => {
    const issued = await issue(3);
    const refused = (await askTimes(issued, 5)).slice(3);
    expect(refused.map(codeOf)).toEqual(times(2, 'rate_limit_exceeded'));
    expect(refused.map(({ json }) => json.message)).toEqual([
      'Over the limit of 3 requests per minute of plan enterprise. Wait 30 seconds before the next request. ' +
        '2 refusals remain within this minute until the API key is banned.',
      'Over the limit of 3 requests per minute of plan enterprise. Wait 30 seconds before the next request. ' +
        '1 refusal remains within this minute until the API key is banned.',
    ]);
    travelTo(new Date(HALF_PAST.getTime() + retryAfter(refused[1]) * SECOND_MS));
    expect((await askTimes(issued, 5)).map(codeOf)).toEqual([
      ...times(3, '200'),
      ...times(2, 'rate_limit_exceeded'),
    ]);
  });

  it('a client that has fewer requests in flight than its limit, and waits as it is told, is never banned', async () => {
    const issued = await issue(5, 60);
    for (let round = 0; round < 20; round += 1) {
      const answers = await Promise.all(Array.from({ length: 4 }, () => ask(issued)));
      expect(answers.map(codeOf)).not.toContain('api_key_banned');
      const waits = answers.filter(({ status }) => status === 429).map(retryAfter);
      travelTo(new Date(store.clock.now() + Math.max(0, ...waits) * SECOND_MS));
    }
    expect(await counterOf(issued)).toMatchObject({ banned_until: null, ban_step: 0 });
  });
});

describe('a ban', () => {
  it('is started by the request that is refused as the 60th in a minute, on plan Free: the 120th', async () => {
    const issued = await store.issue({ plan: 'free' });
    const answers = await askTimes(issued, 122);
    expect(answers.map(codeOf)).toEqual([
      ...times(60, '200'),
      ...times(59, 'rate_limit_exceeded'),
      ...times(3, 'api_key_banned'),
    ]);
    expect(answers.slice(60, 119).map(refusalsLeft)).toEqual(descending(59, 1));
  });

  it('is told by 429 api_key_banned, which says until when, why, and what to do', async () => {
    const issued = await issue(3, 100);
    const starter = await provoke(issued);
    for (const answer of [starter, await ask(issued)]) {
      expectError(
        answer,
        429,
        'api_key_banned',
        `This API key is banned until ${BAN_END}, because too many requests followed a 429 within one minute. ` +
          'Send none for 60 seconds. After any later 429 wait as Retry-After tells, or the key is banned again.',
      );
      expectRateLimitHeaders(answer);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'retry-after': '60',
        'x-ratelimit-limit': '3',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': unixSeconds(BAN_END),
        'ratelimit-policy': '"minute";q=3;w=60, "day";q=100;w=86400',
        ratelimit: '"minute";r=0;t=61, "day";r=0;t=61',
      });
    }
  });

  it('is started by refusals of the day too, and tells the end of the ban, not of the day', async () => {
    const issued = await issue(4, 2);
    const answers = await askTimes(issued, 6);
    expect(answers.map(codeOf)).toEqual([
      ...times(2, '200'),
      ...times(3, 'rate_limit_exceeded'),
      'api_key_banned',
    ]);
    expect(answers[2]?.json.message).toBe(
      'Over the limit of 2 requests per day of plan enterprise. Wait 41130 seconds before the next request. ' +
        '3 refusals remain within this minute until the API key is banned.',
    );
    const starter = answers[5] as Answer;
    expect(Object.fromEntries(starter.headers)).toMatchObject({
      'retry-after': '60',
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': unixSeconds(BAN_END),
      ratelimit: `"minute";r=0;t=61, "day";r=0;t=${SECONDS_OF_DAY_LEFT}`,
    });
    travelTo(endOf(starter));
    expectError(await ask(issued), 429, 'rate_limit_exceeded', expect.stringContaining('2 requests per day'));
  });

  it('is not started by refusals of two minutes together', async () => {
    const issued = await issue(4);
    expect((await askTimes(issued, 7)).map(codeOf)).not.toContain('api_key_banned');
    travelTo(new Date('2027-03-05T12:35:00.100Z'));
    expect((await askTimes(issued, 7)).map(codeOf)).toEqual([
      ...times(4, '200'),
      ...times(3, 'rate_limit_exceeded'),
    ]);
  });

  it('lasts beyond the minute, and after it the service is as before', async () => {
    const issued = await issue(3, 100);
    const starter = await provoke(issued);
    travelTo(new Date('2027-03-05T12:35:28.600Z'));
    const last = await ask(issued);
    expectError(last, 429, 'api_key_banned', expect.stringContaining(`until ${BAN_END}`));
    expect(retryAfter(last)).toBe(2);
    expect(header('ratelimit')(last)).toBe('"minute";r=0;t=3, "day";r=0;t=3');
    travelTo(endOf(starter));
    const answers = await askTimes(issued, 4);
    expect(answers.map(codeOf)).toEqual([...times(3, '200'), 'rate_limit_exceeded']);
    expect(answers.slice(0, 3).map(header('ratelimit'))).toEqual(
      [2, 1, 0].map((left) => `"minute";r=${left};t=29, "day";r=${94 + left};t=${SECONDS_OF_DAY_LEFT - 61}`),
    );
    expect(refusalsLeft(answers[3] as Answer)).toBe(2);
  });

  it('is not lengthened by whatever is sent meanwhile, which takes nothing from the windows', async () => {
    const issued = await issue(3, 100);
    const starter = await provoke(issued);
    const before = await counterOf(issued);
    for (const waitMs of [0, 15 * SECOND_MS, 45 * SECOND_MS]) {
      travelTo(new Date(HALF_PAST.getTime() + waitMs));
      const answers = await Promise.all(Array.from({ length: 20 }, () => ask(issued)));
      expect(answers.map(codeOf)).toEqual(times(20, 'api_key_banned'));
      expect(new Set(answers.map(header('x-ratelimit-reset')))).toEqual(new Set([unixSeconds(BAN_END)]));
    }
    expect(await counterOf(issued)).toEqual({ ...before, minute_used: 0 });
    travelTo(endOf(starter));
    const answer = await ask(issued);
    expect(answer.status).toBe(200);
    expect(header('ratelimit')(answer)).toMatch(/^"minute";r=2;t=29, "day";r=96;/);
  });

  it('stands before everything but the key: role, path, method, removal, body', async () => {
    const issued = await issue(2);
    await provoke(issued);
    const requests: [string, Parameters<typeof send>[1]][] = [
      ['/v1/pets', {}],
      ['/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } }],
      ['/v1/pets', { method: 'POST', body: '{"name":' }],
      ['/v1/pets', { method: 'DELETE' }],
      ['/v1/pets/7', {}],
      ['/v1/nothing', {}],
      ['/v1/%zz', {}],
      ['/admin/keys', {}],
    ];
    for (const [path, init] of requests) {
      travelTo(new Date(HALF_PAST.getTime() + SECOND_MS / 2));
      const answer = await send(`${store.url}${path}`, { ...init, key: issued.key });
      expectError(answer, 429, 'api_key_banned');
      expectRateLimitHeaders(answer);
      expect(retryAfter(answer)).toBe(60);
    }
    travelTo(new Date(HALF_PAST.getTime() + SECOND_MS / 2));
    const head = await send(`${store.url}/v1/pets`, { method: 'HEAD', key: issued.key });
    expect([head.status, retryAfter(head), head.text]).toEqual([429, 60, '']);
    expect((await database.query('SELECT 1 FROM pets')).length).toBe(0);
  });

  it('is of every key of the quota, and of no other quota', async () => {
    const [issued, other] = [await issue(2), await issue(2)];
    const second = generateApiKey('staging');
    const { prefix, lastFour } = keyHints(second);
    await database.query(
      `INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four)
       SELECT gen_random_uuid(), quota_id, 'successor', $2, $3, $4 FROM api_keys WHERE id = $1`,
      [issued.id, hashApiKey(second), prefix, lastFour],
    );
    await provoke(issued);
    expect(codeOf(await ask({ ...issued, key: second }))).toBe('api_key_banned');
    expect(codeOf(await ask(other))).toBe('200');
  });

  it("is of administrators' quotas too", async () => {
    const issued = await store.issue({
      role: 'admin',
      plan: 'enterprise',
      perMinute: 2,
      perDay: 100,
    });
    await provoke(issued);
    expectError(await send(`${store.url}/admin/nothing`, { key: issued.key }), 429, 'api_key_banned');
  });

  it('is of the quota alone: its address is a stranger like any other, and what needs no key is served', async () => {
    const issued = await issue(2);
    await provoke(issued);
    expectError(await send(`${store.url}/v1/pets`), 401, 'missing_api_key');
    expect((await send(`${store.url}/openapi.json`, { key: issued.key })).status).toBe(200);
    expect((await send(`${store.url}/livez`, { key: issued.key })).status).toBe(200);
  });

  it('is never of a stranger, however many requests it sends', async () => {
    const strict = await startApplication({ environment: { STRANGER_LIMIT: 3 } });
    try {
      strict.clock.travelTo(HALF_PAST);
      const answers: Answer[] = [];
      for (let sent = 0; sent < 12; sent += 1) {
        answers.push(await send(`${strict.url}/v1/pets`));
      }
      expect(answers.map(codeOf)).toEqual([...times(3, '401'), ...times(9, 'rate_limit_exceeded')]);
      expect(answers.filter(({ json }) => /\bban/.test(json.message))).toEqual([]);
      strict.clock.travel(MINUTE_MS);
      expectError(await send(`${strict.url}/v1/pets`), 401, 'missing_api_key');
    } finally {
      await strict.close();
    }
  });
});

describe('the ladder', () => {
  it('is a minute, five, an hour, a day, and another day', async () => {
    const issued = await issue(2);
    for (const seconds of [60, 300, 3600, 86_400, 86_400]) {
      const starter = await provoke(issued);
      expect(retryAfter(starter)).toBe(seconds);
      expect(starter.json.message).toContain(`Send none for ${seconds} seconds.`);
      travelTo(new Date(endOf(starter).getTime() + MINUTE_MS));
    }
  });

  it('falls by one step for each full day without a ban', async () => {
    const issued = await issue(2);
    const waits: [number, number][] = [
      [0, 60],
      [0, 300],
      [DAY_MS - MINUTE_MS, 3600],
      [DAY_MS, 3600],
      [3 * DAY_MS, 60],
    ];
    for (const [waitMs, seconds] of waits) {
      travelTo(new Date(store.clock.now() + waitMs));
      const starter = await provoke(issued);
      expect(retryAfter(starter)).toBe(seconds);
      travelTo(endOf(starter));
    }
  });

  it('is the one of BAN_DURATIONS; none bans nobody, and says nothing of bans', async () => {
    const [short, lenient] = await Promise.all([
      startApplication({ database, environment: { BAN_DURATIONS: [10 * SECOND_MS] } }),
      startApplication({ database, environment: { BAN_DURATIONS: [] } }),
    ]);
    try {
      short.clock.travelTo(HALF_PAST);
      lenient.clock.travelTo(HALF_PAST);
      const issued = await issue(2);
      const answers = await askTimes(issued, 4, short);
      expect(answers.map(codeOf)).toEqual(['200', '200', 'rate_limit_exceeded', 'api_key_banned']);
      expect(retryAfter(answers[3])).toBeLessThanOrEqual(10);
      const other = await issue(2);
      const free = await askTimes(other, 12, lenient);
      expect(free.map(codeOf)).toEqual([...times(2, '200'), ...times(10, 'rate_limit_exceeded')]);
      expect(free.at(-1)?.json.message).toMatch(
        /^Over the limit of 2 requests per minute of plan enterprise\. Wait \d+ seconds before the next request\.$/,
      );
    } finally {
      await Promise.all([short.close(), lenient.close()]);
    }
  });
});

describe('two replicas', () => {
  it('start one ban between them, and tell each number of refusals once', async () => {
    const issued = await issue(20);
    const answers = await Promise.all(
      Array.from({ length: 70 }, (_, index) => ask(issued, index % 2 === 0 ? store : replica)),
    );
    const [served, refused, banned] = ['200', 'rate_limit_exceeded', 'api_key_banned'].map((code) =>
      answers.filter((answer) => codeOf(answer) === code),
    ) as [Answer[], Answer[], Answer[]];
    expect(served).toHaveLength(20);
    expect(refused.map(refusalsLeft).toSorted((a, b) => b - a)).toEqual(descending(19, 1));
    expect(banned).toHaveLength(31);
    expect(new Set(banned.map(header('x-ratelimit-reset'))).size).toBe(1);
    expect(await counterOf(issued)).toMatchObject({
      minute_used: 20,
      day_used: 20,
      refusals: 0,
      ban_step: 1,
    });
  });

  it('hold a ban that the other started, and that the other lifted no more', async () => {
    const issued = await issue(3);
    const starter = await provoke(issued);
    expect(codeOf(await ask(issued, replica))).toBe('api_key_banned');
    const subject = await subjectOf(issued);
    const until = (await replica.app.get(CounterStore).bans()).get(subject);
    expect(Math.ceil(Number(until) / SECOND_MS)).toBe(endOf(starter).getTime() / SECOND_MS);

    expect(await replica.app.get(CounterStore).liftBan(subject)).not.toBeNull();
    const refused = await ask(issued);
    expectError(refused, 429, 'rate_limit_exceeded');
    expect(refusalsLeft(refused)).toBe(2);
    expect((await store.app.get(CounterStore).bans()).has(subject)).toBe(false);

    travelTo(new Date(HALF_PAST.getTime() + MINUTE_MS));
    expect(retryAfter(await provoke(issued))).toBe(300);
  });

  it('hold refusals to the limit in force, also when that has changed within the minute', async () => {
    const issued = await issue(6);
    expect((await askTimes(issued, 9)).map(codeOf).slice(6)).toEqual(times(3, 'rate_limit_exceeded'));
    await database.query(
      'UPDATE quotas SET per_minute = 5 WHERE id = (SELECT quota_id FROM api_keys WHERE id = $1)',
      [issued.id],
    );
    // This one has not seen the key before, and so asks what is in force.
    const answers = await askTimes(issued, 2, replica);
    expect(answers.map(codeOf)).toEqual(['rate_limit_exceeded', 'api_key_banned']);
    expect(refusalsLeft(answers[0] as Answer)).toBe(1);
  });
});
