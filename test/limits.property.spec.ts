import fc from 'fast-check';
import type { IssuedKey } from '../src/admin/key.schemas.js';
import { readEnvironment } from '../src/environment.js';
import { startApplication, type TestApplication } from './support/application.js';
import { type ServiceHome, sharedStores } from './support/counter-stores.js';
import { until } from './support/eventually.js';
import { type Answer, send } from './support/http.js';
import { inWords, type Limits, type Moment, QuotaModel, type Verdict } from './support/quota-model.js';

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const RUNS = 30;
/** No edge is nearer than this when requests are sent, so that all of them are on one side of it. */
const CLEARANCE_MS = 5_000;
/** So long before an edge everything is still as it was. */
const BEFORE_EDGE_MS = 10_000;
/** By then a property that fails says by which events, in the fewest that it has found. */
const PATIENCE_MS = 40_000;
const TIMEOUT_MS = 60_000;
const FIRST_LIMITS: Limits = { perMinute: 5, perDay: 20 };

/** What may happen to a quota, in any order. */
type Event =
  | { type: 'burst'; requests: number }
  /** As many requests as start a ban, whatever was sent before. */
  | { type: 'outrage' }
  | { type: 'minutes'; pass: number }
  | { type: 'days'; pass: number }
  /** To the end of the last ban, and so many days; or to shortly before. */
  | { type: 'ban end'; days: number; shortlyBefore: boolean }
  | { type: 'lift' }
  | { type: 'limits'; perMinute: number; perDay: number }
  | { type: 'rotation' };

const whole = (min: number, max: number) => fc.integer({ min, max });
type Facts<Type> = Omit<Extract<Event, { type: Type }>, 'type'>;
const event = <Type extends Event['type']>(
  weight: number,
  type: Type,
  facts: { [Name in keyof Facts<Type>]: fc.Arbitrary<Facts<Type>[Name]> },
) => ({ weight, arbitrary: fc.record({ type: fc.constant(type), ...facts }) as fc.Arbitrary<unknown> });

/** As often long as short: a ban, its end and the next ban are many events. */
const events = fc.noBias(
  fc.array(
    fc.oneof(
      event(6, 'burst', { requests: whole(1, 12) }),
      event(4, 'outrage', {}),
      event(5, 'ban end', { days: whole(0, 2), shortlyBefore: fc.boolean() }),
      event(2, 'lift', {}),
      event(4, 'minutes', { pass: whole(1, 3) }),
      event(1, 'days', { pass: whole(1, 2) }),
      event(1, 'limits', { perMinute: whole(1, 8), perDay: whole(1, 40) }),
      event(1, 'rotation', {}),
    ) as fc.Arbitrary<Event>,
    { minLength: 1, maxLength: 24 },
  ),
);

/** What an answer tells, in the words of the model. */
function toldBy({ status, headers, json }: Answer): string {
  const [, minuteLeft, dayLeft] =
    /^"minute";r=(\d+);t=\d+, "day";r=(\d+);t=\d+$/.exec(headers.get('ratelimit') ?? '') ?? [];
  const [, perMinute, perDay] =
    /^"minute";q=(\d+);w=60, "day";q=(\d+);w=86400$/.exec(headers.get('ratelimit-policy') ?? '') ?? [];
  const [, refusalsLeft = null] =
    /(\d+) refusals? remains? within this minute/.exec(json.message ?? '') ?? [];
  return inWords({
    code: status === 200 ? '200' : json.code,
    limits: { perMinute: Number(perMinute), perDay: Number(perDay) },
    left: [Number(minuteLeft), Number(dayLeft)],
    remaining: Number(headers.get('x-ratelimit-remaining')),
    resetSeconds: Number(headers.get('x-ratelimit-reset')),
    refusalsLeft: refusalsLeft === null ? null : Number(refusalsLeft),
  });
}

describe.each(sharedStores)('whatever happens to a quota of two replicas over one %s,', (_name, start) => {
  let home: ServiceHome;
  let replicas: [TestApplication, TestApplication];
  let admin: IssuedKey;

  beforeAll(async () => {
    home = await start();
    const { database } = home;
    const { COUNTER_STORE } = readEnvironment(home.settings);
    replicas = [
      await startApplication({ database, environment: { COUNTER_STORE } }),
      await startApplication({ database, environment: { COUNTER_STORE } }),
    ];
    admin = await replicas[0].issue({
      role: 'admin',
      plan: 'enterprise',
      perMinute: 1_000_000,
      perDay: 1_000_000,
    });
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.close()));
    await home.stop();
  });

  const now = () => replicas[0].clock.now();

  /** One clock for both: the first replica's. */
  function travelTo(ms: number): void {
    replicas[0].clock.travelTo(new Date(ms));
    replicas[1].clock.storeOffsetMs = replicas[0].clock.storeOffsetMs;
  }

  const travelToNext = (lengthMs: number, count: number) =>
    travelTo((Math.floor(now() / lengthMs) + count) * lengthMs);

  /** Goes on to each edge that is so near that what follows could be on both sides of it. */
  function keepClearOfEdges(model: QuotaModel): void {
    const edgeMs = model.nextEdgeMs(now());
    if (edgeMs < now() + CLEARANCE_MS) {
      travelTo(edgeMs);
      keepClearOfEdges(model);
    }
  }

  async function administer(path: string, method: string, body?: unknown) {
    const answer = await send(`${replicas[0].url}/admin/keys/${path}`, { method, key: admin.key, body });
    expect(answer.status).toBeLessThan(300);
    return answer.json;
  }

  /** Where the quota stands, but for the name of its plan. */
  async function standing(key: string, replica: TestApplication) {
    const { status, json } = await send(`${replica.url}/v1/rate-limit`, { key });
    expect(status).toBe(200);
    const { plan: _plan, ...rest } = json;
    return rest;
  }

  /** New limits hold within a second; what follows is about what they admit. */
  async function limitsHold({ perMinute, perDay }: Limits, key: string): Promise<void> {
    for (const replica of replicas) {
      await until(async () => {
        const { windows } = await standing(key, replica);
        return windows[0].limit === perMinute && windows[1].limit === perDay;
      });
    }
  }

  async function burst(model: QuotaModel, keys: readonly IssuedKey[], requests: number): Promise<void> {
    const fromMs = now();
    const answers = await Promise.all(
      Array.from({ length: requests }, (_, index) =>
        send(`${replicas[index % 2]?.url}/v1/pets`, { key: keys[Math.floor(index / 2) % keys.length]?.key }),
      ),
    );
    // PostgreSQL rounds to the nearest millisecond.
    const moment = { fromMs, toMs: now() + 1 };
    const stands = await standing(keys[0]?.key ?? '', replicas[requests % 2] as TestApplication);
    const saidEndMs = stands.bannedUntil === null ? null : Date.parse(stands.bannedUntil);
    expectAnswers(answers, model.judge(requests, moment, saidEndMs), moment);
    expect(stands).toEqual(model.standing());
  }

  /** Each answer is one of the verdicts, and each verdict one of the answers, whichever came first. */
  function expectAnswers(answers: Answer[], verdicts: Verdict[], { fromMs, toMs }: Moment): void {
    const sorted = answers.toSorted((a, b) => (toldBy(a) < toldBy(b) ? -1 : 1));
    const expected = verdicts.toSorted((a, b) => (a.told < b.told ? -1 : 1));
    expect(sorted.map(toldBy)).toEqual(expected.map(({ told }) => told));
    for (const [index, { dueMs }] of expected.entries()) {
      const retryAfter = sorted[index]?.headers.get('retry-after') ?? null;
      if (dueMs === null) {
        expect(retryAfter).toBeNull();
      } else {
        const seconds = (ms: number) => Math.max(1, Math.ceil((dueMs - ms) / SECOND_MS));
        expect(Number(retryAfter)).toBeGreaterThanOrEqual(seconds(toMs));
        expect(Number(retryAfter)).toBeLessThanOrEqual(seconds(fromMs));
      }
    }
  }

  async function happen(happening: Event, model: QuotaModel, keys: IssuedKey[]): Promise<void> {
    const [first, last] = [keys[0], keys.at(-1)] as [IssuedKey, IssuedKey];
    switch (happening.type) {
      case 'burst':
        return burst(model, keys, happening.requests);
      case 'outrage':
        return burst(model, keys, 2 * model.limits.perMinute);
      case 'minutes':
        return travelToNext(MINUTE_MS, happening.pass);
      case 'days':
        return travelToNext(DAY_MS, happening.pass);
      case 'ban end': {
        const edgeMs = (model.lastBanEndMs ?? 0) + happening.days * DAY_MS;
        const ms = happening.shortlyBefore ? edgeMs - BEFORE_EDGE_MS : edgeMs;
        return ms > now() ? travelTo(ms) : undefined;
      }
      case 'lift':
        await administer(`${first.id}/unban`, 'POST');
        return model.lift(now());
      case 'limits': {
        const { perMinute, perDay } = happening;
        model.limits = { perMinute, perDay };
        await administer(first.id, 'PATCH', { plan: 'enterprise', perMinute, perDay });
        return limitsHold(model.limits, last.key);
      }
      case 'rotation': {
        // With so long an overlap that all keys go on working, however far the time travels.
        keys.push(await administer(`${last.id}/rotate`, 'POST', { overlapSeconds: 31_536_000 }));
      }
    }
  }

  it(
    'min(room, asked) are admitted, each remaining value is told once, refusals burn nothing, and the modelled one starts the ban',
    async () => {
      await fc.assert(
        fc.asyncProperty(events, async (happenings) => {
          travelToNext(DAY_MS, 1);
          const model = new QuotaModel(FIRST_LIMITS, now());
          const keys = [await replicas[1].issue({ plan: 'enterprise', ...FIRST_LIMITS })];
          for (const happening of happenings) {
            keepClearOfEdges(model);
            await happen(happening, model, keys);
          }
          keepClearOfEdges(model);
          model.passTo(now());
          for (const replica of replicas) {
            expect(await standing(keys[0]?.key ?? '', replica)).toEqual(model.standing());
          }
        }),
        { numRuns: RUNS, interruptAfterTimeLimit: PATIENCE_MS, markInterruptAsFailure: true },
      );
    },
    TIMEOUT_MS,
  );
});
