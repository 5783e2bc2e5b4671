import fc from 'fast-check';
import type { IssuedKey } from '../src/admin/key.schemas.js';
import { startApplication, type TestApplication } from './support/application.js';
import { createDatabase, type TestDatabase } from './support/database.js';
import { until } from './support/eventually.js';
import { type Answer, send } from './support/http.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const RUNS = 40;

/** What may happen to a quota, in any order. */
type Event =
  | { type: 'burst'; requests: number }
  | { type: 'minutes'; pass: number }
  | { type: 'days'; pass: number }
  | { type: 'limits'; perMinute: number; perDay: number }
  | { type: 'rotation' };

const events: fc.Arbitrary<Event[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        type: fc.constant('burst' as const),
        requests: fc.integer({ min: 1, max: 12 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ type: fc.constant('minutes' as const), pass: fc.integer({ min: 1, max: 3 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ type: fc.constant('days' as const), pass: fc.integer({ min: 1, max: 2 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant('limits' as const),
        perMinute: fc.integer({ min: 1, max: 10 }),
        perDay: fc.integer({ min: 1, max: 30 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('rotation' as const) }) },
  ),
  { minLength: 1, maxLength: 10 },
);

/** What a quota has used, by the rules alone. */
class Model {
  private minuteUsed = 0;
  private dayUsed = 0;

  constructor(
    public perMinute: number,
    public perDay: number,
  ) {}

  get used() {
    return { minute: this.minuteUsed, day: this.dayUsed };
  }

  passMinutes(): void {
    this.minuteUsed = 0;
  }

  passDays(): void {
    this.minuteUsed = 0;
    this.dayUsed = 0;
  }

  /** How many of so many requests are admitted. */
  burst(requests: number): number {
    const room = Math.min(this.perMinute - this.minuteUsed, this.perDay - this.dayUsed);
    const admitted = Math.max(0, Math.min(requests, room));
    this.minuteUsed += admitted;
    this.dayUsed += admitted;
    return admitted;
  }
}

describe('whatever happens to a quota that two replicas serve', () => {
  let database: TestDatabase;
  let replicas: [TestApplication, TestApplication];
  let admin: IssuedKey;

  beforeAll(async () => {
    database = await createDatabase();
    // Bans are specified elsewhere; here every refusal is one of a window.
    const environment = { BAN_DURATIONS: [] };
    replicas = [
      await startApplication({ database, environment }),
      await startApplication({ database, environment }),
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
    await database.drop();
  });

  const administer = async (path: string, method: string, body?: unknown) => {
    const answer = await send(`${replicas[0].url}/admin/keys/${path}`, { method, key: admin.key, body });
    expect(answer.status).toBeLessThan(300);
    return answer.json;
  };

  /** One clock for both: the first replica's. */
  function travel(move: () => void): void {
    move();
    replicas[1].clock.storeOffsetMs = replicas[0].clock.storeOffsetMs;
  }

  function travelToNext(lengthMs: number, count: number): void {
    const { clock } = replicas[0];
    travel(() => clock.travelTo(new Date((Math.floor(clock.now() / lengthMs) + count) * lengthMs)));
  }

  /** New limits hold within a second; what follows is about what they admit. */
  async function limitsHold({ perMinute, perDay }: Model, key: string): Promise<void> {
    for (const { url } of replicas) {
      await until(async () => {
        const { json } = await send(`${url}/v1/rate-limit`, { key });
        return json.windows?.[0].limit === perMinute && json.windows?.[1].limit === perDay;
      });
    }
  }

  const remaining = ({ headers }: Answer) => {
    const [, minute, day] =
      /"minute";r=(\d+);t=\d+, "day";r=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? [];
    return { minute: Number(minute), day: Number(day) };
  };
  const countingDown = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => from - index);

  async function burst(model: Model, keys: readonly string[], requests: number): Promise<void> {
    const before = model.used;
    const admitted = model.burst(requests);
    const answers = await Promise.all(
      Array.from({ length: requests }, (_, index) =>
        send(`${replicas[index % 2]?.url}/v1/pets`, { key: keys[index % keys.length] }),
      ),
    );
    const served = answers.filter(({ status }) => status === 200).map(remaining);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(requests - admitted);
    for (const window of ['minute', 'day'] as const) {
      const limit = window === 'minute' ? model.perMinute : model.perDay;
      expect(served.map((told) => told[window]).toSorted((a, b) => b - a)).toEqual(
        countingDown(limit - before[window] - 1, admitted),
      );
    }
  }

  it('exactly min(room, asked) are admitted, each remaining value is told once, and refusals burn nothing', async () => {
    await fc.assert(
      fc.asyncProperty(events, async (happening) => {
        travelToNext(DAY_MS, 1);
        const model = new Model(5, 20);
        const first = await replicas[1].issue({ plan: 'enterprise', perMinute: 5, perDay: 20 });
        const keys = [first];
        for (const event of happening) {
          switch (event.type) {
            case 'burst':
              await burst(
                model,
                keys.map(({ key }) => key),
                event.requests,
              );
              break;
            case 'minutes':
              travelToNext(MINUTE_MS, event.pass);
              model.passMinutes();
              break;
            case 'days':
              travelToNext(DAY_MS, event.pass);
              model.passDays();
              break;
            case 'limits':
              model.perMinute = event.perMinute;
              model.perDay = event.perDay;
              await administer(first.id, 'PATCH', {
                plan: 'enterprise',
                perMinute: event.perMinute,
                perDay: event.perDay,
              });
              await limitsHold(model, keys.at(-1)?.key ?? '');
              break;
            case 'rotation': {
              // With so long an overlap that all keys go on working, however far the time travels.
              const last = keys.at(-1)?.id ?? '';
              keys.push(await administer(`${last}/rotate`, 'POST', { overlapSeconds: 31_536_000 }));
              break;
            }
          }
        }
        for (const { url } of replicas) {
          const { json } = await send(`${url}/v1/rate-limit`, { key: first.key });
          expect(json.windows.map((window: { remaining: number }) => window.remaining)).toEqual([
            Math.max(0, model.perMinute - model.used.minute),
            Math.max(0, model.perDay - model.used.day),
          ]);
        }
      }),
      { numRuns: RUNS },
    );
  });
});
