import { Agent, get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { DAY_MS, MINUTE_MS, untilMinuteLasts } from '../support/time/clock.js';
import { type ServiceHome, sharedStores } from '../support/counter-stores.js';
import { descending } from './counting.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

const REPLICAS = 3;
const CONNECTIONS_EACH = 50;
const LOAD_MS = 5_000;
/** How long it may go on, on a busy machine, until each key has had enough requests. */
const LOAD_MAX_MS = 25_000;
/** More than any limit that the load exceeds. */
const REQUESTS_MIN = 601;
/** The minute ends in the middle of the load. */
const BEFORE_EDGE_MS = LOAD_MS / 2;
/** The last responses may come later than the load ends. */
const SLACK_MS = 2_000;
/** The minutes that the load spans: over PostgreSQL two, over Redis one. */
const MINUTES = [2, 1];

/** Small limits that the load far exceeds, one that only the day restricts, and one that is never reached. */
const LIMITS = [
  { perMinute: 60, perDay: 1_000_000 },
  { perMinute: 100, perDay: 1_000_000 },
  { perMinute: 1_000_000, perDay: 600 },
  { perMinute: 1_000_000, perDay: 10_000_000 },
];

/** Load alone, far over a limit: the connections to each of two replicas. */
const CROWDS = [700, 1500, 700, 1500];
const CROWD_AFTER_START = 80;
const CROWD_LIMIT = 50;

async function listPets(agent: Agent, url: string, limit: number, key: string): Promise<IncomingMessage> {
  const request = get(`${url}/v1/pets?limit=${limit}`, {
    agent,
    headers: { Authorization: `Bearer ${key}` },
  });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response;
}

const served = (responses: IncomingMessage[]) => responses.filter(({ statusCode }) => statusCode === 200);

/** Returns what remains of the minute and of the day. */
function left({ headers }: IncomingMessage): [minute: number, day: number] {
  const [, minute, day] = /"minute";r=(\d+);t=\d+, "day";r=(\d+)/.exec(String(headers['ratelimit'])) ?? [];
  return [Number(minute), Number(day)];
}

/** Waits until the load will span so many minutes, and one day. */
async function untilLoadSpans(minutes: number): Promise<void> {
  if (minutes === 1) {
    return untilMinuteLasts(LOAD_MAX_MS + SLACK_MS);
  }
  const edge = Math.ceil((Date.now() + BEFORE_EDGE_MS) / MINUTE_MS) * MINUTE_MS;
  await pause((edge % DAY_MS === 0 ? edge + MINUTE_MS : edge) - BEFORE_EDGE_MS - Date.now());
}

describe.each(
  sharedStores.map(([name, start], index) => ({ name, start, minutes: MINUTES[index] as number })),
)('three replicas over one $name', ({ start, minutes }) => {
  let home: ServiceHome;
  let urls: string[];
  // Each denial is by a window; bans have tests of their own.
  const replicas = new ServiceProcesses(() => ({ ...home.settings, LOG_LEVEL: 'warn', BAN_DURATIONS: '' }));

  beforeAll(async () => {
    home = await start();
    urls = await Promise.all(Array.from({ length: REPLICAS }, () => replicas.start().ready()));
  });
  afterAll(async () => {
    await replicas.end('SIGTERM');
    await home.stop();
  });

  describe(`with 50 connections each, in ${minutes} minutes,`, () => {
    let keys: IssuedKey[];
    /** Those to each key. */
    let responses: IncomingMessage[][];

    beforeAll(async () => {
      keys = [];
      for (const limits of LIMITS) {
        keys.push(await issueKey(home.database, { plan: 'enterprise', ...limits }));
      }
      responses = keys.map(() => []);
      await untilLoadSpans(minutes);
      const startMs = performance.now();
      const goesOn = () => {
        const ms = performance.now() - startMs;
        return ms < LOAD_MS || (ms < LOAD_MAX_MS && responses.some(({ length }) => length < REQUESTS_MIN));
      };
      const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_EACH });
      const sendInTurn = async (url: string, first: number) => {
        for (let turn = first; goesOn(); turn += 1) {
          const index = turn % keys.length;
          responses[index]?.push(await listPets(agent, url, 1, keys[index]?.key ?? ''));
        }
      };
      await Promise.all(
        urls.flatMap((url) => Array.from({ length: CONNECTIONS_EACH }, (_, index) => sendInTurn(url, index))),
      );
      agent.destroy();
    });

    it('allow or deny every request', () => {
      for (const each of responses) {
        expect(new Set([...each.map(({ statusCode }) => statusCode), 200, 429])).toEqual(new Set([200, 429]));
        expect(each.length).toBeGreaterThanOrEqual(REQUESTS_MIN);
      }
    });

    it('allow exactly as many as the windows have room for', () => {
      const counts = responses.map((each) => served(each).length);
      expect(counts).toEqual([60 * minutes, 100 * minutes, 600, responses[3]?.length]);
    });

    it('count exactly what they allowed: denials use up nothing of the day', async () => {
      for (const [index, { quotaId }] of keys.entries()) {
        const { dayUsed } = (await home.findCounter(`quota:${quotaId}`)) ?? {};
        expect(dayUsed).toBe(served(responses[index] ?? []).length);
      }
    });

    it('report each remaining count of a window once', () => {
      for (const [index, { perMinute, perDay }] of LIMITS.entries()) {
        const counts = served(responses[index] ?? []).map(left);
        const days = counts.map(([, day]) => day);
        expect(days.toSorted((a, b) => b - a)).toEqual(descending(perDay - 1, perDay - counts.length));
        // Each minute reports every remaining count once.
        const reports = new Map<number, number>();
        counts.forEach(([minute]) => reports.set(minute, (reports.get(minute) ?? 0) + 1));
        expect(Math.max(...reports.values())).toBeLessThanOrEqual(minutes);
        expect(Math.max(...reports.keys())).toBe(perMinute - 1);
      }
    });
  });

  describe('load alone', () => {
    /**
     * Sends so many requests of one key at once, each on a connection of its own, to each of two replicas.
     */
    async function expectExact(two: string[], each: number): Promise<void> {
      // The day bounds the crowd if a minute ends meanwhile.
      const limits = { perMinute: CROWD_LIMIT, perDay: CROWD_LIMIT };
      const { key } = await issueKey(home.database, { plan: 'enterprise', ...limits });
      const agent = new Agent({ maxSockets: each });
      const crowd = two.flatMap((url) => Array.from({ length: each }, () => listPets(agent, url, 100, key)));
      const responses = await Promise.all(crowd);
      expect(served(responses)).toHaveLength(CROWD_LIMIT);
      // Requests that are shed get 429 or 503, and report what is last known.
      expect(served(responses).some(({ headers }) => 'x-ratelimit-degraded' in headers)).toBe(false);
      expect(replicas.output.stdout).not.toMatch(/store is unavailable/);
    }

    it.each(CROWDS)(
      'never exceeds a limit: %i connections to each of two replicas send a request at once',
      async (each) => {
        await expectExact(urls.slice(1), each);
      },
    );

    it(`never exceeds a limit: ${CROWD_AFTER_START} such connections to each of two new ones`, async () => {
      const started = await Promise.all([replicas.start().ready(), replicas.start().ready()]);
      await expectExact(started, CROWD_AFTER_START);
    });
  });

  it('cause no warning of the driver, also by concurrent requests for the rate-limit status', async () => {
    const { key } = await issueKey(home.database, { plan: 'business' });
    const requests = Array.from({ length: 20 }, () => send(`${urls[0]}/v1/rate-limit`, { key }));
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(replicas.output.stderr).toBe('');
  });
});
