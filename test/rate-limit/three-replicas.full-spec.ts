import { Agent, get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { IssuedKey } from '../../src/admin/keys/key.schemas.js';
import { type ServiceHome, sharedStores } from '../support/counters/counter-stores.js';
import { issueKey } from '../support/keys/keys.js';
import { ServiceProcess } from '../support/service/service-process.js';

const REPLICAS = 3;
const CONNECTIONS_EACH = 50;
const LOAD_MS = 12_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** The minute ends in the middle of the load. */
const BEFORE_EDGE_MS = LOAD_MS / 2;
/** The last responses may come later than the load ends. */
const SLACK_MS = 2_000;
/** The minutes that the load spans: over PostgreSQL two, over Redis one. */
const MINUTES = [2, 1];

/** Small limits that the load far exceeds, one that only the day restricts, and one that is never reached. */
const LIMITS = [
  { perMinute: 60, perDay: 1_000_000 },
  { perMinute: 500, perDay: 1_000_000 },
  { perMinute: 1_000_000, perDay: 1_500 },
  { perMinute: 1_000_000, perDay: 10_000_000 },
];

/** The responses of all replicas to one key. */
interface ResponseCounts {
  allowed: number;
  denied: number;
  other: number;
  /** How often each remaining count was reported, of the minute and of the day. */
  minuteLeft: Map<number, number>;
  dayLeft: Map<number, number>;
}

const noneCounted = (): ResponseCounts => ({
  allowed: 0,
  denied: 0,
  other: 0,
  minuteLeft: new Map(),
  dayLeft: new Map(),
});
const count = (counts: Map<number, number>, value: number) => counts.set(value, (counts.get(value) ?? 0) + 1);

function record(responses: ResponseCounts, { statusCode, headers }: IncomingMessage): void {
  if (statusCode === 429) {
    responses.denied += 1;
    return;
  }
  if (statusCode !== 200) {
    responses.other += 1;
    return;
  }
  responses.allowed += 1;
  const [, minute, day] = /"minute";r=(\d+);t=\d+, "day";r=(\d+)/.exec(String(headers['ratelimit'])) ?? [];
  count(responses.minuteLeft, Number(minute));
  count(responses.dayLeft, Number(day));
}

/** Waits until the load will span so many minutes, and one day. */
async function untilWithin(minutes: number): Promise<void> {
  const now = Date.now();
  if (minutes === 1) {
    const leftMs = MINUTE_MS - (now % MINUTE_MS);
    await pause(leftMs < LOAD_MS + SLACK_MS ? leftMs : 0);
    return;
  }
  const edge = Math.ceil((now + BEFORE_EDGE_MS) / MINUTE_MS) * MINUTE_MS;
  await pause((edge % DAY_MS === 0 ? edge + MINUTE_MS : edge) - BEFORE_EDGE_MS - now);
}

describe.each(
  sharedStores.map(([name, start], index) => ({ name, start, minutes: MINUTES[index] as number })),
)('three replicas over one $name, 50 connections each, in $minutes minutes,', ({ name, start, minutes }) => {
  let home: ServiceHome;
  let replicas: ServiceProcess[];
  let keys: IssuedKey[];
  let responses: ResponseCounts[];

  beforeAll(async () => {
    home = await start();
    keys = [];
    for (const limits of LIMITS) {
      keys.push(await issueKey(home.database, { plan: 'enterprise', ...limits }));
    }
    replicas = Array.from(
      { length: REPLICAS },
      () =>
        new ServiceProcess('main.js', {
          ...home.settings,
          HOST: '127.0.0.1',
          LOG_LEVEL: 'warn',
          // Each denial is by a window; bans have tests of their own.
          BAN_DURATIONS: '',
        }),
    );
    const urls = await Promise.all(replicas.map((replica) => replica.listening()));
    responses = keys.map(noneCounted);

    await untilWithin(minutes);
    const end = performance.now() + LOAD_MS;
    const agents = urls.map(() => new Agent({ keepAlive: true, maxSockets: CONNECTIONS_EACH }));
    await Promise.all(
      urls.flatMap((url, replica) => {
        const agent = agents[replica];
        return Array.from({ length: CONNECTIONS_EACH }, async (_, connection) => {
          for (let turn = connection; performance.now() < end; turn += 1) {
            const index = turn % keys.length;
            const call = get(`${url}/v1/pets?limit=1`, {
              agent,
              headers: { Authorization: `Bearer ${keys[index]?.key}` },
            });
            const [response] = (await once(call, 'response')) as [IncomingMessage];
            response.resume();
            await once(response, 'end');
            record(responses[index] as ResponseCounts, response);
          }
        });
      }),
    );
    for (const agent of agents) {
      agent.destroy();
    }
    for (const [index, { allowed, denied }] of responses.entries()) {
      process.stdout.write(
        `${name}, key ${index}: ${JSON.stringify({ ...LIMITS[index], allowed, denied })}\n`,
      );
    }
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.kill('SIGTERM')));
    await home.stop();
  });

  it('allow or deny every request', () => {
    expect(responses.map(({ other }) => other)).toEqual([0, 0, 0, 0]);
    expect(responses.every(({ allowed, denied }) => allowed + denied > 1500)).toBe(true);
  });

  it('allow exactly as many as the windows have room for', () => {
    expect(responses.map(({ allowed }) => allowed).slice(0, 3)).toEqual([60 * minutes, 500 * minutes, 1_500]);
    expect(responses[3]?.denied).toBe(0);
  });

  it('count exactly what they allowed: denials use up nothing of the day', async () => {
    for (const [index, { quotaId }] of keys.entries()) {
      expect(await home.counterOf(`quota:${quotaId}`)).toMatchObject({
        dayUsed: responses[index]?.allowed,
      });
    }
  });

  it('report each remaining count of a window once', () => {
    for (const [index, { minuteLeft, dayLeft, allowed }] of responses.entries()) {
      const { perMinute, perDay } = LIMITS[index] as (typeof LIMITS)[number];
      expect([...dayLeft.keys()].toSorted((a, b) => b - a)).toEqual(
        Array.from({ length: allowed }, (_, used) => perDay - used - 1),
      );
      expect(Math.max(...dayLeft.values())).toBe(1);
      // Of each minute.
      expect(Math.max(...minuteLeft.values())).toBeLessThanOrEqual(minutes);
      expect(Math.max(...minuteLeft.keys())).toBe(perMinute - 1);
    }
  });
});
