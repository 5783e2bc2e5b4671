import { Agent, get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { IssuedKey } from '../src/admin/key.schemas.js';
import { type ServiceHome, sharedStores } from './support/counter-stores.js';
import { issueKey } from './support/keys.js';
import { ServiceProcess } from './support/service-process.js';

const REPLICAS = 3;
const CONNECTIONS_EACH = 50;
const LOAD_MS = 30_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** The edge of a minute lies in the middle of the load. */
const BEFORE_EDGE_MS = LOAD_MS / 2;
/** The load spans the end of one minute and the start of the next. */
const WINDOWS = 2;

/** Small limits that the load is far over, one that only the day holds back, and one that nothing does. */
const LIMITS = [
  { perMinute: 60, perDay: 1_000_000 },
  { perMinute: 500, perDay: 1_000_000 },
  { perMinute: 1_000_000, perDay: 1_500 },
  { perMinute: 1_000_000, perDay: 10_000_000 },
];

/** What one key was told by all replicas. */
interface Told {
  admitted: number;
  refused: number;
  other: number;
  /** How often each remaining number was told, of the minute and of the day. */
  minuteLeft: Map<number, number>;
  dayLeft: Map<number, number>;
}

const told = (): Told => ({ admitted: 0, refused: 0, other: 0, minuteLeft: new Map(), dayLeft: new Map() });
const count = (counts: Map<number, number>, value: number) => counts.set(value, (counts.get(value) ?? 0) + 1);

function note(heard: Told, { statusCode, headers }: IncomingMessage): void {
  if (statusCode === 429) {
    heard.refused += 1;
    return;
  }
  if (statusCode !== 200) {
    heard.other += 1;
    return;
  }
  heard.admitted += 1;
  const [, minute, day] = /"minute";r=(\d+);t=\d+, "day";r=(\d+)/.exec(String(headers['ratelimit'])) ?? [];
  count(heard.minuteLeft, Number(minute));
  count(heard.dayLeft, Number(day));
}

/** Waits until the edge of a minute is as far ahead as that; not of a day, of which all is to be one window. */
async function untilBeforeEdge(): Promise<void> {
  const now = Date.now() + BEFORE_EDGE_MS;
  const edge = Math.ceil(now / MINUTE_MS) * MINUTE_MS;
  await pause((edge % DAY_MS === 0 ? edge + MINUTE_MS : edge) - now);
}

describe.each(sharedStores)('three processes over one %s, 50 connections each, for 30 s,', (name, start) => {
  let home: ServiceHome;
  let replicas: ServiceProcess[];
  let keys: IssuedKey[];
  let heard: Told[];

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
          // Each refusal is one of a window; bans have tests of their own.
          BAN_DURATIONS: '',
        }),
    );
    const urls = await Promise.all(replicas.map((replica) => replica.listening()));
    heard = keys.map(told);

    await untilBeforeEdge();
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
            note(heard[index] as Told, response);
          }
        });
      }),
    );
    for (const agent of agents) {
      agent.destroy();
    }
    for (const [index, { admitted, refused }] of heard.entries()) {
      process.stdout.write(
        `${name}, key ${index}: ${JSON.stringify({ ...LIMITS[index], admitted, refused })}\n`,
      );
    }
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.kill('SIGTERM')));
    await home.stop();
  });

  it('answer every request by admission or refusal', () => {
    expect(heard.map(({ other }) => other)).toEqual([0, 0, 0, 0]);
    expect(heard.every(({ admitted, refused }) => admitted + refused > 1500)).toBe(true);
  });

  it('admit exactly as many as the windows have room for, across the edge of a minute too', () => {
    expect(heard.map(({ admitted }) => admitted).slice(0, 3)).toEqual([60 * WINDOWS, 500 * WINDOWS, 1_500]);
    expect(heard[3]?.refused).toBe(0);
  });

  it('count exactly what they admitted: refusals burn nothing of the day', async () => {
    for (const [index, { quotaId }] of keys.entries()) {
      expect(await home.counterOf(`quota:${quotaId}`)).toMatchObject({ dayUsed: heard[index]?.admitted });
    }
  });

  it('tell each remaining number of a window once', () => {
    for (const [index, { minuteLeft, dayLeft, admitted }] of heard.entries()) {
      const { perMinute, perDay } = LIMITS[index] as (typeof LIMITS)[number];
      expect([...dayLeft.keys()].toSorted((a, b) => b - a)).toEqual(
        Array.from({ length: admitted }, (_, used) => perDay - used - 1),
      );
      expect(Math.max(...dayLeft.values())).toBe(1);
      // Of each of the two minutes.
      expect(Math.max(...minuteLeft.values())).toBeLessThanOrEqual(WINDOWS);
      expect(Math.max(...minuteLeft.keys())).toBe(perMinute - 1);
    }
  });
});
