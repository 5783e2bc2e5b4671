import { Logger } from '@nestjs/common';
import type { Environment } from '../../src/settings/environment.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { TestClock } from '../support/counters/clock.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { send } from '../support/http/http.js';
import { describeOnPgBouncer, type PgBouncer, startPgBouncer } from '../support/database/pgbouncer.js';

const LIMIT = 300;
const REQUESTS = 2 * LIMIT;
const CONNECTIONS = 40;

let database: TestDatabase;
let pooler: PgBouncer | null;
let replicas: TestApplication[];

beforeEach(async () => {
  database = await createDatabase();
  pooler = null;
  replicas = [];
});
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(replicas.map((replica) => replica.close()));
  await pooler?.stop();
  await database.drop();
});

const nameOf = ({ url }: TestDatabase) => new URL(url).pathname.slice(1);

/** Sets a default of every later session that sets none. */
const setDefault = (setting: string) => database.query(`ALTER DATABASE ${nameOf(database)} SET ${setting}`);

async function startReplicas(environment: Partial<Environment> = {}): Promise<void> {
  const clock = new TestClock();
  for (let started = 0; started < 2; started += 1) {
    replicas.push(await startApplication({ database, environment, clock }));
  }
}

/** Sends twice the limit to both replicas, and counts the responses by status. */
async function exceedLimit(): Promise<Record<string, number>> {
  const [first] = replicas as [TestApplication];
  const { key } = await first.issue({ plan: 'pro' });
  const counts: Record<string, number> = {};
  let sent = 0;
  const sendInTurn = async () => {
    while (sent < REQUESTS) {
      sent += 1;
      const { status, headers } = await send(`${replicas[sent % 2]?.url}/v1/pets?limit=1`, { key });
      const kind = headers.get('x-ratelimit-degraded') === null ? `${status}` : `${status} degraded`;
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sendInTurn));
  return counts;
}

const EXACT = { 200: LIMIT, 429: REQUESTS - LIMIT };

const readiness = () => Promise.all(replicas.map(async ({ url }) => (await send(`${url}/readyz`)).status));

describe('two replicas on a database whose default isolation is repeatable read', () => {
  it('stay exact over direct connections, and are ready', async () => {
    await setDefault("default_transaction_isolation = 'repeatable read'");
    await startReplicas();
    expect(await exceedLimit()).toEqual(EXACT);
    expect(await readiness()).toEqual([200, 200]);
  });
});

describeOnPgBouncer('a service behind PgBouncer', () => {
  it.each([
    [
      "default_transaction_isolation = 'repeatable read'",
      'transactions are repeatable read by default, and must be read committed',
      "default_transaction_isolation = 'read committed'",
    ],
    [
      "timezone = 'America/New_York'",
      'the time zone is America/New_York by default, and must be UTC',
      "timezone = 'UTC'",
    ],
  ])('is not ready until its role is set, and logs the statement to run: %s', async (wrong, what, right) => {
    const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    await setDefault(wrong);
    pooler = await startPgBouncer(database.url);
    await startReplicas({ DATABASE_URL: pooler.url });
    expect(await readiness()).toEqual([503, 503]);
    const repair = `ALTER ROLE postgres IN DATABASE ${nameOf(database)} SET ${right}`;
    const line = expect.stringMatching(`^Not ready: ${what}: run "${repair}"`);
    expect(errors.mock.calls).toEqual([[line], [line]]);

    await database.query(repair);
    // The service and the pooler connect anew.
    await Promise.all(replicas.splice(0).map((replica) => replica.close()));
    await pooler.stop();
    pooler = await startPgBouncer(database.url);
    await startReplicas({ DATABASE_URL: pooler.url });
    expect(await readiness()).toEqual([200, 200]);
    expect(await exceedLimit()).toEqual(EXACT);
  });
});
