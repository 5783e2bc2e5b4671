import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { createDatabase, type TestDatabase } from './support/database.js';
import { type HttpResponse, send } from './support/http.js';
import { issueKey } from './support/keys.js';

const MAIN = path.resolve(import.meta.dirname, '..', 'dist', 'main.js');
const MINUTE_MS = 60_000;
/** More than the burst takes: with this much of a minute left, the burst ends within the minute. */
const BURST_MS = 10_000;

interface Replica {
  process: ChildProcess;
  url: string;
}

/** Starts the service as an operator does, and waits until it listens. */
async function startReplica(databaseUrl: string): Promise<Replica> {
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env['PATH'],
      APP_ENV: 'staging',
      DATABASE_URL: databaseUrl,
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^Animal Store listens on (http:\S+)$/.exec(line)?.[1];
    if (url !== undefined) {
      return { process: child, url };
    }
  }
  throw new Error('The process ended before it listened');
}

describe('two replicas over one database', () => {
  let database: TestDatabase;
  let replicas: Replica[] = [];
  let key: string;

  beforeAll(async () => {
    database = await createDatabase();
    ({ key } = await issueKey(database));
    replicas = await Promise.all([startReplica(database.url), startReplica(database.url)]);
  });
  afterAll(async () => {
    await Promise.all(
      replicas.map(async ({ process: child }) => {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
      }),
    );
    await database.drop();
  });

  it('allow exactly 60 of 200 concurrent requests of a Free key, count 60 in its day, and start one ban', async () => {
    // These replicas use the real clock, so enough of this minute must be left.
    const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS);
    if (leftMs < BURST_MS) {
      await pause(leftMs);
    }
    const responses = await Promise.all(
      Array.from({ length: 200 }, (_, index) => send(`${replicas[index % 2]?.url}/v1/pets`, { key })),
    );
    const served = responses.filter(({ status }) => status === 200);
    const denied = responses.filter(({ status }) => status === 429);

    expect(new Set(responses.map(({ headers }) => headers.get('ratelimit-policy')))).toEqual(
      new Set(['"minute";q=60;w=60, "day";q=1000;w=86400']),
    );
    expect(served).toHaveLength(60);
    expect(denied).toHaveLength(140);
    expect(served.map(remaining).toSorted((a, b) => b - a)).toEqual(
      Array.from({ length: 60 }, (_, index) => 59 - index),
    );
    for (const response of denied) {
      expect(remaining(response)).toBe(0);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(response.json).toEqual({
        code: expect.any(String),
        message: expect.any(String),
        status: 429,
      });
    }
    // The 60th refusal starts a ban, at either replica; each refusal before it reports its own count.
    const [warned, banned] = ['rate_limit_exceeded', 'api_key_banned'].map((code) =>
      denied.filter(({ json }) => json.code === code),
    ) as [HttpResponse[], HttpResponse[]];
    expect(warned.map(refusalsLeft).toSorted((a, b) => b - a)).toEqual(
      Array.from({ length: 59 }, (_, index) => 59 - index),
    );
    expect(banned).toHaveLength(81);
    expect(new Set(banned.map(({ headers }) => headers.get('x-ratelimit-reset'))).size).toBe(1);
    expect(
      await database.query('SELECT minute_used, day_used, refusals, ban_step FROM rate_limit_counters'),
    ).toEqual([{ minute_used: 60, day_used: 60, refusals: 0, ban_step: 1 }]);
  });
});

const remaining = ({ headers }: HttpResponse) => Number(headers.get('x-ratelimit-remaining'));
const refusalsLeft = ({ json }: HttpResponse) => Number(/\b(\d+) refusals? remain/.exec(json.message)?.[1]);
