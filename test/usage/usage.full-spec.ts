import { setTimeout as pause } from 'node:timers/promises';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import type { Usage as UsageRow } from '../../src/usage/usage.schemas.js';
import { until } from '../support/eventually.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { run, type ServiceProcess } from '../support/service/service-process.js';
import { ServiceProcesses } from '../support/service/service-processes.js';
import { aggregateUsage } from '../support/keys/usage.js';

const LOAD_MS = 5000;
/** How long it may go on, on a busy machine, until enough requests have their responses. */
const LOAD_MAX_MS = 30_000;
/** Concurrent clients of each process. */
const CLIENTS = 12;
/** What a killed process may lose. */
const MAY_BE_LOST_MS = 1000;

type Call = [operation: string, path: string, init?: Parameters<typeof send>[1]];

const pet = { name: 'Rex', categoryId: 7 };

const CALLS: readonly Call[] = [
  ['listPets', '/v1/pets?limit=1'],
  ['listPets', '/v1/pets?limit=1', { method: 'HEAD' }],
  ['listPets', '/v1/pets?limit=0'],
  ['createPet', '/v1/pets', { method: 'POST', body: pet }],
  ['createPet', '/v1/pets', { method: 'POST', body: '{' }],
  ['getPet', '/v1/pets/1'],
  ['getPet', '/v1/pets/9223372036854775807'],
  ['none', '/v1/dogs'],
  ['none', '/v1/pets', { method: 'DELETE' }],
];

/** A request that got a response. */
interface CompletedCall {
  operation: string;
  keyId: string;
  status: number;
  atMs: number;
}

/** Counts by key, operation, whether that is deprecated, and class; without zeros. */
type Counts = Record<string, number>;

/** Returns the sum of the counts of each name. */
function sumByName(entries: readonly (readonly [name: string, count: number])[]): Counts {
  const counts: Counts = {};
  for (const [name, count] of entries) {
    counts[name] = (counts[name] ?? 0) + count;
  }
  return counts;
}

function countByKind(responses: readonly CompletedCall[]): Counts {
  return sumByName(
    responses.flatMap(({ keyId, operation, status }) => {
      const kinds = ['requests', `${Math.floor(status / 100)}xx`, ...(status === 429 ? ['denied'] : [])];
      return kinds.map((kind) => [`${keyId} ${operation} ${operation === 'getPet'} ${kind}`, 1] as const);
    }),
  );
}

/** Returns the sum of all counts of a kind. */
const total = (counts: Counts, kind: string) =>
  Object.entries(counts).reduce((sum, [name, count]) => sum + (name.endsWith(` ${kind}`) ? count : 0), 0);

describe('two replicas over one database, under load,', () => {
  let database: TestDatabase;
  let keys: IssuedKey[];
  let replicas: ServiceProcess[];
  let urls: string[];
  const services = new ServiceProcesses(() => ({
    NODE_ENV: '',
    DATABASE_URL: database.url,
    LOG_LEVEL: 'warn',
  }));

  beforeEach(async () => {
    database = await createDatabase();
    const issue = (perMinute: number) =>
      issueKey(database, { plan: 'enterprise', perMinute, perDay: 1_000_000 });
    keys = [await issue(1_000_000), await issue(1_000_000), await issue(50)];
    replicas = [services.start(), services.start()];
    urls = await Promise.all(replicas.map((replica) => replica.listening()));
  });
  afterEach(async () => {
    await services.end('SIGKILL');
    await database.drop();
  });

  /**
   * Runs clients with these keys until stopped; collects their responses, and counts the requests that they
   * sent.
   */
  function load(url: string, using: readonly IssuedKey[]) {
    const responses: CompletedCall[] = [];
    const end = new AbortController();
    let sent = 0;
    const callOn = async (client: number) => {
      for (let turn = client; !end.signal.aborted; turn += 1) {
        const [operation, path, init] = CALLS[turn % CALLS.length] as Call;
        const { id, key } = using[Math.floor(turn / CALLS.length + client) % using.length] as IssuedKey;
        sent += 1;
        try {
          const { status } = await send(`${url}${path}`, { ...init, key });
          responses.push({ operation, keyId: id, status, atMs: performance.now() });
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

  async function stored(period: 'minute' | 'hour' | 'day'): Promise<Counts> {
    const rows = await database.query<{ name: string; count: number }>(
      `SELECT concat_ws(' ', key_id, operation, deprecated::text, kind) AS name, sum(count)::int AS count
       FROM usage, LATERAL (VALUES
         ('requests', succeeded + redirected + client_errors + server_errors), ('2xx', succeeded),
         ('3xx', redirected), ('4xx', client_errors), ('5xx', server_errors), ('denied', denied)
       ) AS kinds (kind, count)
       WHERE period = $1 GROUP BY 1 HAVING sum(count) > 0`,
      [period],
    );
    return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
  }

  it('lose only requests of the last second when one is killed', async () => {
    const [killed, other] = [load(urls[0] ?? '', keys.slice(0, 1)), load(urls[1] ?? '', keys.slice(1, 2))];
    await pause(LOAD_MS);
    const killedAtMs = performance.now();
    await replicas[0]?.kill('SIGKILL');
    await Promise.all([killed.stop(), other.stop()]);
    await replicas[1]?.kill('SIGTERM');

    await aggregateUsage(database.url);
    const counts = await stored('minute');
    expect(await stored('hour')).toEqual(counts);
    expect(await stored('day')).toEqual(counts);
    expect(counts).toMatchObject(countByKind(other.responses));

    const ofKilled = countByKind(killed.responses);
    const due = killed.responses.filter(({ atMs }) => atMs <= killedAtMs - MAY_BE_LOST_MS);
    expect(total(countByKind(due), 'requests')).toBeGreaterThan(0);
    for (const [name, least] of Object.entries(countByKind(due))) {
      expect(counts[name]).toBeGreaterThanOrEqual(least);
      // Requests in flight at the kill may be recorded too, though no client got their responses.
      expect(counts[name]).toBeLessThanOrEqual((ofKilled[name] ?? 0) + CLIENTS);
    }
    const recorded = total(counts, 'requests') - total(countByKind(other.responses), 'requests');
    expect(recorded).toBeLessThanOrEqual(killed.sent());
  });

  it('record each request once by key, operation and class, and lose none if both are killed', async () => {
    const loads = urls.map((url) => load(url, keys));
    const countResponses = () => countByKind(loads.flatMap(({ responses }) => responses));
    await pause(LOAD_MS);
    await until(() => {
      const counts = countResponses();
      return total(counts, 'requests') > 500 && total(counts, 'denied') > 50;
    }, LOAD_MAX_MS);
    await Promise.all(loads.map(({ stop }) => stop()));
    await pause(MAY_BE_LOST_MS);
    await Promise.all(replicas.map((replica) => replica.kill('SIGKILL')));
    expect((await database.query('SELECT FROM usage_batches')).length).toBeGreaterThan(0);

    const settings = { APP_ENV: 'staging', DATABASE_URL: database.url };
    const expected = countResponses();
    expect(Object.keys(expected).filter((name) => name.endsWith(' requests'))).toHaveLength(keys.length * 4);
    for (const _turn of [1, 2]) {
      const { stdout } = await run('cli/admin.js', settings, 'usage', 'list', '--json');
      // The load may pass midnight, and each day has rows of its own.
      const received = (JSON.parse(stdout) as UsageRow[]).flatMap(
        ({ keyId, operation, deprecated, requests, statuses, denied }) =>
          Object.entries({ requests, ...statuses, denied })
            .filter(([, count]) => count > 0)
            .map(([kind, count]) => [`${keyId} ${operation} ${deprecated} ${kind}`, count] as const),
      );
      expect(sumByName(received)).toEqual(expected);
      for (const period of ['minute', 'hour', 'day'] as const) {
        expect([period, await stored(period)]).toEqual([period, expected]);
      }
    }
    expect(await database.query('SELECT FROM usage_batches WHERE size > 0')).toStrictEqual([]);
  });
});
