import type { IssuedKey } from '../src/admin/key.schemas.js';
import type { Usage as UsageRow } from '../src/admin/usage.schemas.js';
import { createDatabase, type TestDatabase } from './support/database.js';
import { send } from './support/http.js';
import { issueKey } from './support/keys.js';
import { run, ServiceProcess } from './support/service-process.js';

const LOAD_MS = 5000;
/** Concurrent clients of each process. */
const CLIENTS = 12;
/** What a killed process may lose. */
const MAY_BE_LOST_MS = 1000;

interface Call {
  operation: string;
  deprecated: boolean;
  path: string;
  init?: Parameters<typeof send>[1];
}

const pet = { name: 'Rex', categoryId: 7 };
const CALLS: readonly Call[] = [
  { operation: 'listPets', deprecated: false, path: '/v1/pets?limit=1' },
  { operation: 'listPets', deprecated: false, path: '/v1/pets?limit=1', init: { method: 'HEAD' } },
  { operation: 'listPets', deprecated: false, path: '/v1/pets?limit=0' },
  { operation: 'createPet', deprecated: false, path: '/v1/pets', init: { method: 'POST', body: pet } },
  { operation: 'createPet', deprecated: false, path: '/v1/pets', init: { method: 'POST', body: '{' } },
  { operation: 'getPet', deprecated: true, path: '/v1/pets/1' },
  { operation: 'getPet', deprecated: true, path: '/v1/pets/9223372036854775807' },
  { operation: 'none', deprecated: false, path: '/v1/dogs' },
  { operation: 'none', deprecated: false, path: '/v1/pets', init: { method: 'DELETE' } },
];

/** A request that got a response. */
interface CompletedCall extends Call {
  keyId: string;
  status: number;
  atMs: number;
}

interface Sum {
  requests: number;
  succeeded: number;
  redirected: number;
  clientErrors: number;
  serverErrors: number;
  refusals: number;
}

type Sums = Record<string, Sum>;

/** By key and operation. */
function sumsOf(responses: readonly CompletedCall[]): Sums {
  const sums: Sums = {};
  for (const { keyId, operation, deprecated, status } of responses) {
    const sum = (sums[`${keyId} ${operation} ${deprecated}`] ??= {
      requests: 0,
      succeeded: 0,
      redirected: 0,
      clientErrors: 0,
      serverErrors: 0,
      refusals: 0,
    });
    sum.requests += 1;
    sum.succeeded += Number(status < 300);
    sum.redirected += Number(status >= 300 && status < 400);
    sum.clientErrors += Number(status >= 400 && status < 500);
    sum.serverErrors += Number(status >= 500);
    sum.refusals += Number(status === 429);
  }
  return sums;
}

describe('two replicas over one database, under load,', () => {
  let database: TestDatabase;
  let keys: IssuedKey[];
  let replicas: ServiceProcess[];
  let urls: string[];

  beforeEach(async () => {
    database = await createDatabase();
    const issue = (perMinute: number) =>
      issueKey(database, { plan: 'enterprise', perMinute, perDay: 1_000_000 });
    keys = [await issue(1_000_000), await issue(1_000_000), await issue(50)];
    replicas = Array.from(
      { length: 2 },
      () =>
        new ServiceProcess('main.js', {
          APP_ENV: 'staging',
          DATABASE_URL: database.url,
          HOST: '127.0.0.1',
          LOG_LEVEL: 'warn',
        }),
    );
    urls = await Promise.all(replicas.map((replica) => replica.listening()));
  });
  afterEach(async () => {
    await Promise.all(replicas.map((replica) => replica.kill('SIGKILL')));
    await database.drop();
  });

  /** Runs clients with these keys until stopped; collects their responses, and counts the requests that they sent. */
  function load(url: string, using: readonly IssuedKey[]) {
    const responses: CompletedCall[] = [];
    const end = new AbortController();
    let sent = 0;
    const callOn = async (client: number) => {
      for (let turn = client; !end.signal.aborted; turn += 1) {
        const call = CALLS[turn % CALLS.length] as Call;
        const { id, key } = using[Math.floor(turn / CALLS.length + client) % using.length] as IssuedKey;
        sent += 1;
        try {
          const { status } = await send(`${url}${call.path}`, { ...call.init, key });
          responses.push({ ...call, keyId: id, status, atMs: performance.now() });
        } catch {
          // The process was killed.
          return;
        }
      }
    };
    const clients = Array.from({ length: CLIENTS }, (_, client) => callOn(client));
    return {
      responses,
      sent: () => sent,
      stop: async () => {
        end.abort();
        await Promise.all(clients);
      },
    };
  }

  async function stored(period: 'minute' | 'hour' | 'day'): Promise<Sums> {
    const rows = await database.query<Sum & { name: string }>(
      `SELECT
         concat_ws(' ', key_id, operation, CASE WHEN deprecated THEN 'true' ELSE 'false' END) AS name,
         sum(succeeded + redirected + client_errors + server_errors)::int AS requests,
         sum(succeeded)::int AS succeeded,
         sum(redirected)::int AS redirected,
         sum(client_errors)::int AS "clientErrors",
         sum(server_errors)::int AS "serverErrors",
         sum(refusals)::int AS refusals
       FROM usage WHERE period = $1 GROUP BY 1`,
      [period],
    );
    return Object.fromEntries(rows.map(({ name, ...sum }) => [name, sum]));
  }

  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  it('record every request once by key, operation and class, in all three periods, by their end', async () => {
    const loads = urls.map((url) => load(url, keys));
    await pause(LOAD_MS);
    await Promise.all(loads.map(({ stop }) => stop()));
    const ends = await Promise.all(replicas.map((replica) => replica.kill('SIGTERM')));
    expect(loads.map(({ sent }) => sent())).toEqual(loads.map(({ responses }) => responses.length));
    expect(ends.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    const expected = sumsOf(loads.flatMap(({ responses }) => responses));
    expect(Object.keys(expected)).toHaveLength(keys.length * 4);
    expect(Object.values(expected).reduce((sum, { requests }) => sum + requests, 0)).toBeGreaterThan(500);
    expect(Object.values(expected).reduce((sum, { refusals }) => sum + refusals, 0)).toBeGreaterThan(50);
    for (const period of ['minute', 'hour', 'day'] as const) {
      expect([period, await stored(period)]).toEqual([period, expected]);
    }
  });

  it('lose only requests of the last second when one is killed', async () => {
    const [killed, other] = [load(urls[0] ?? '', keys.slice(0, 1)), load(urls[1] ?? '', keys.slice(1, 2))];
    await pause(LOAD_MS);
    const killedAtMs = performance.now();
    await replicas[0]?.kill('SIGKILL');
    await Promise.all([killed.stop(), other.stop()]);
    await replicas[1]?.kill('SIGTERM');

    const sums = await stored('minute');
    expect(await stored('hour')).toEqual(sums);
    expect(await stored('day')).toEqual(sums);
    expect(sums).toMatchObject(sumsOf(other.responses));

    const due = sumsOf(killed.responses.filter(({ atMs }) => atMs <= killedAtMs - MAY_BE_LOST_MS));
    const sumsOfKilled = sumsOf(killed.responses);
    expect(Object.keys(due)).toHaveLength(4);
    for (const [name, least] of Object.entries(due)) {
      for (const count of Object.keys(least) as (keyof Sum)[]) {
        expect(sums[name]?.[count]).toBeGreaterThanOrEqual(least[count]);
        // Requests in flight at the kill may be recorded too, though no client got their responses.
        expect(sums[name]?.[count]).toBeLessThanOrEqual((sumsOfKilled[name]?.[count] ?? 0) + CLIENTS);
      }
    }
    const ofKilled = Object.keys(due).reduce((sum, name) => sum + (sums[name]?.requests ?? 0), 0);
    expect(ofKilled).toBeLessThanOrEqual(killed.sent());
  });

  it('leave all requests in the journal when both are killed, and each reader gets them once', async () => {
    const loads = urls.map((url, index) => load(url, keys.slice(index, index + 1)));
    await pause(LOAD_MS);
    await Promise.all(loads.map(({ stop }) => stop()));
    await pause(MAY_BE_LOST_MS);
    await Promise.all(replicas.map((replica) => replica.kill('SIGKILL')));
    expect((await database.query('SELECT FROM usage_batches')).length).toBeGreaterThan(0);

    const settings = { APP_ENV: 'staging', DATABASE_URL: database.url };
    const expected = sumsOf(loads.flatMap(({ responses }) => responses));
    for (const _turn of [1, 2]) {
      const { stdout } = await run('cli/admin.js', settings, 'usage', '--json');
      const received = (JSON.parse(stdout) as UsageRow[]).map(
        ({ keyId, operation, deprecated, requests, statuses, refusals }) => [
          `${keyId} ${operation} ${deprecated}`,
          {
            requests,
            succeeded: statuses['2xx'],
            redirected: statuses['3xx'],
            clientErrors: statuses['4xx'],
            serverErrors: statuses['5xx'],
            refusals,
          },
        ],
      );
      expect(Object.fromEntries(received)).toEqual(expected);
      expect(await stored('minute')).toEqual(expected);
    }
    expect(await database.query('SELECT FROM usage_batches')).toEqual([]);
  });
});
