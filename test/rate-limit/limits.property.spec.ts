import fc from 'fast-check';
import type { IssuedKey } from '../../src/admin/keys/key.schemas.js';
import { readEnvironment } from '../../src/settings/environment.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { type ServiceHome, sharedStores } from '../support/counters/counter-stores.js';
import { until } from '../support/eventually.js';
import { type HttpResponse, send } from '../support/http/http.js';
import {
  type ExpectedResponse,
  inWords,
  type Limits,
  type Moment,
  QuotaModel,
} from '../support/counters/quota-model.js';

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const RUNS = 30;
/** The least distance to the end of a window when requests are sent, so that all of them are on one side of it. */
const CLEARANCE_MS = 5_000;
/** The distance before the end of a ban at which nothing has changed yet. */
const BEFORE_EDGE_MS = 10_000;
/** Until then fast-check shrinks a failure; it then reports the shortest sequence of events that it has found. */
const PATIENCE_MS = 40_000;
const TIMEOUT_MS = 60_000;
const FIRST_LIMITS: Limits = { perMinute: 5, perDay: 20 };

/** What can happen to a quota, in any order. */
type Event =
  | { type: 'burst'; requests: number }
  /** As many requests as start a ban, whatever was sent before. */
  | { type: 'outrage' }
  | { type: 'minutes'; pass: number }
  | { type: 'days'; pass: number }
  /** To the end of the last ban and some days after it, or to shortly before. */
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

/** Long sequences are as frequent as short ones: a ban, its end and the next ban are many events. */
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

/** Describes a response in the words of the model. */
function describeResponse({ status, headers, json }: HttpResponse): string {
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

describe.each(sharedStores)('two replicas over one %s', (_name, start) => {
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

  /** Both replicas have the clock of the first. */
  function travelTo(ms: number): void {
    replicas[0].clock.travelTo(new Date(ms));
    replicas[1].clock.storeOffsetMs = replicas[0].clock.storeOffsetMs;
  }

  const travelToNext = (lengthMs: number, count: number) =>
    travelTo((Math.floor(now() / lengthMs) + count) * lengthMs);

  /** Moves past every window end that is so near that the next requests could be on both sides of it. */
  function moveClearOfEdges(model: QuotaModel): void {
    const edgeMs = model.nextEdgeMs(now());
    if (edgeMs < now() + CLEARANCE_MS) {
      travelTo(edgeMs);
      moveClearOfEdges(model);
    }
  }

  async function administer(path: string, method: string, body?: unknown) {
    const response = await send(`${replicas[0].url}/admin/keys/${path}`, { method, key: admin.key, body });
    expect(response.status).toBeLessThan(300);
    return response.json;
  }

  /** The rate-limit status of the quota, without the name of its plan. */
  async function rateLimitStatus(key: string, replica: TestApplication) {
    const { status, json } = await send(`${replica.url}/v1/rate-limit`, { key });
    expect(status).toBe(200);
    const { plan: _plan, ...rest } = json;
    return rest;
  }

  /** Waits until the new limits are in force, which takes up to a second. */
  async function untilLimitsApply({ perMinute, perDay }: Limits, key: string): Promise<void> {
    for (const replica of replicas) {
      await until(async () => {
        const { windows } = await rateLimitStatus(key, replica);
        return windows[0].limit === perMinute && windows[1].limit === perDay;
      });
    }
  }

  async function burst(model: QuotaModel, keys: readonly IssuedKey[], requests: number): Promise<void> {
    const fromMs = now();
    const responses = await Promise.all(
      Array.from({ length: requests }, (_, index) =>
        send(`${replicas[index % 2]?.url}/v1/pets`, { key: keys[Math.floor(index / 2) % keys.length]?.key }),
      ),
    );
    // PostgreSQL rounds to the nearest millisecond.
    const moment = { fromMs, toMs: now() + 1 };
    const current = await rateLimitStatus(keys[0]?.key ?? '', replicas[requests % 2] as TestApplication);
    const bannedUntilMs = current.bannedUntil === null ? null : Date.parse(current.bannedUntil);
    expectResponses(responses, model.consume(requests, moment, bannedUntilMs), moment);
    expect(current).toEqual(model.status());
  }

  /** Expects these responses, in any order. */
  function expectResponses(
    responses: HttpResponse[],
    all: ExpectedResponse[],
    { fromMs, toMs }: Moment,
  ): void {
    const sorted = responses.toSorted((a, b) => (describeResponse(a) < describeResponse(b) ? -1 : 1));
    const expected = all.toSorted((a, b) => (a.report < b.report ? -1 : 1));
    expect(sorted.map(describeResponse)).toEqual(expected.map(({ report }) => report));
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

  async function apply(next: Event, model: QuotaModel, keys: IssuedKey[]): Promise<void> {
    const [first, last] = [keys[0], keys.at(-1)] as [IssuedKey, IssuedKey];
    switch (next.type) {
      case 'burst':
        return burst(model, keys, next.requests);
      case 'outrage':
        return burst(model, keys, 2 * model.limits.perMinute);
      case 'minutes':
        return travelToNext(MINUTE_MS, next.pass);
      case 'days':
        return travelToNext(DAY_MS, next.pass);
      case 'ban end': {
        const edgeMs = (model.lastBanEndMs ?? 0) + next.days * DAY_MS;
        const ms = next.shortlyBefore ? edgeMs - BEFORE_EDGE_MS : edgeMs;
        return ms > now() ? travelTo(ms) : undefined;
      }
      case 'lift':
        await administer(`${first.id}/unban`, 'POST');
        return model.liftBan(now());
      case 'limits': {
        const { perMinute, perDay } = next;
        model.limits = { perMinute, perDay };
        await administer(first.id, 'PATCH', { plan: 'enterprise', perMinute, perDay });
        return untilLimitsApply(model.limits, last.key);
      }
      case 'rotation': {
        // The overlap is so long that all keys stay valid, however far the clock moves.
        keys.push(await administer(`${last.id}/rotate`, 'POST', { overlapSeconds: 31_536_000 }));
      }
    }
  }

  it(
    'allow, deny and ban exactly as the model of a quota predicts, and report each remaining count once',
    async () => {
      await fc.assert(
        fc.asyncProperty(events, async (sequence) => {
          travelToNext(DAY_MS, 1);
          const model = new QuotaModel(FIRST_LIMITS, now());
          const keys = [await replicas[1].issue({ plan: 'enterprise', ...FIRST_LIMITS })];
          for (const next of sequence) {
            moveClearOfEdges(model);
            await apply(next, model, keys);
          }
          moveClearOfEdges(model);
          model.passTo(now());
          for (const replica of replicas) {
            expect(await rateLimitStatus(keys[0]?.key ?? '', replica)).toEqual(model.status());
          }
        }),
        { numRuns: RUNS, interruptAfterTimeLimit: PATIENCE_MS, markInterruptAsFailure: true },
      );
    },
    TIMEOUT_MS,
  );
});
