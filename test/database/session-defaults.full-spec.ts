import { randomBytes } from 'node:crypto';
import { Logger } from '@nestjs/common';
import type { Environment } from '../../src/settings/environment.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { TestClock } from '../support/counters/clock.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { describeOnPgBouncer, type PgBouncer, startPgBouncer } from '../support/database/pgbouncer.js';
import { run } from '../support/service/service-process.js';

const ISOLATIONS = ['repeatable read', 'serializable'];
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

/** Makes this the default isolation of every later session that sets none. */
async function setDefault(isolation: string): Promise<void> {
  await database.query(
    `ALTER DATABASE ${nameOf(database)} SET default_transaction_isolation = '${isolation}'`,
  );
}

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

describe.each(ISOLATIONS)('two replicas on a database whose default isolation is %s', (isolation) => {
  it('allow exactly the limit over direct connections, and are ready', async () => {
    await setDefault(isolation);
    await startReplicas();
    expect(await exceedLimit()).toEqual(EXACT);
    expect(await readiness()).toEqual([200, 200]);
  });
});

describeOnPgBouncer('behind PgBouncer in transaction mode', () => {
  /** The statement that the log and `migrate` recommend. */
  const repairOf = (role: string) =>
    `ALTER ROLE ${role} IN DATABASE ${nameOf(database)} SET default_transaction_isolation = 'read committed'`;

  describe.each(ISOLATIONS)('two replicas on a database whose default isolation is %s', (isolation) => {
    it.each([
      ['when DIRECT_DATABASE_URL bypasses it', () => ({ DIRECT_DATABASE_URL: database.url })],
      ['when counters use it too', () => ({})],
    ])(
      'allow exactly the limit, and are ready once migrate has set the default of their role, %s',
      async (_where, direct) => {
        const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation();
        jest.spyOn(Logger.prototype, 'warn').mockImplementation();
        await setDefault(isolation);
        pooler = await startPgBouncer(database.url);
        await startReplicas({ DATABASE_URL: pooler.url, ...direct() });
        // Until then a request that conflicts with others for too long may get 503.
        const {
          200: allowed,
          429: denied = 0,
          '503 degraded': unavailable = 0,
          ...others
        } = await exceedLimit();
        expect([allowed, denied + unavailable, others]).toEqual([LIMIT, REQUESTS - LIMIT, {}]);
        expect(await readiness()).toEqual([503, 503]);
        const line =
          `Not ready: transactions are ${isolation} by default, and must be read committed: run "${repairOf('postgres')}", ` +
          'and have the pooler connect anew';
        expect(errors.mock.calls).toEqual([[line], [line]]);

        const migrated = await run('cli/admin.js', migrating(pooler.url), 'migrate');
        expect(migrated).toMatchObject({
          code: 0,
          stdout:
            `Made read committed the default isolation of the role postgres in this database; it was ${isolation}. ` +
            'Have the pooler connect anew (PgBouncer: RECONNECT).\nThe database is up to date.\n',
          stderr: '',
        });
        await endSessions();
        await eventually(async () => expect(await readiness()).toEqual([200, 200]));
        expect(await exceedLimit()).toEqual(EXACT);
        expect(await run('cli/admin.js', migrating(pooler.url), 'migrate')).toMatchObject({
          code: 0,
          stdout: 'The database is up to date.\n',
        });
      },
    );
  });

  describe('a replica on a database whose time zone is that of New York', () => {
    const start = async () => {
      pooler = await startPgBouncer(database.url);
      const environment = { DATABASE_URL: pooler.url, DIRECT_DATABASE_URL: database.url };
      replicas = [await startApplication({ database, environment })];
      return pooler;
    };
    const stop = async () => {
      await replicas[0]?.close();
      await pooler?.stop();
    };

    it('is ready once migrate has made UTC the default of its role', async () => {
      const errors = jest.spyOn(Logger.prototype, 'error').mockImplementation();
      jest.spyOn(Logger.prototype, 'warn').mockImplementation();
      await database.query(`ALTER DATABASE ${nameOf(database)} SET timezone = 'America/New_York'`);
      const { url } = await start();
      expect(await readiness()).toEqual([503]);
      expect(errors.mock.calls).toEqual([
        [
          'Not ready: the time zone is America/New_York by default, and must be UTC: run ' +
            `"ALTER ROLE postgres IN DATABASE ${nameOf(database)} SET timezone = 'UTC'", have the pooler connect anew, and restart the service`,
        ],
      ]);

      expect(await run('cli/admin.js', migrating(url), 'migrate')).toMatchObject({
        code: 0,
        stdout:
          'Made UTC the default time zone of the role postgres in this database; it was America/New_York. ' +
          'Have the pooler connect anew (PgBouncer: RECONNECT). Then restart the replicas.\nThe database is up to date.\n',
        stderr: '',
      });
      await stop();
      await start();
      await eventually(async () => expect(await readiness()).toEqual([200]));
    });
  });

  describe('animal-store migrate', () => {
    const role = `service_${randomBytes(6).toString('hex')}`;
    let serviceUrl: string;

    beforeEach(async () => {
      await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
      serviceUrl = Object.assign(new URL(database.url), { username: role, password: 'secret' }).href;
    });
    afterEach(async () => {
      await database.query(`DROP OWNED BY ${role}`);
      await database.query(`DROP ROLE ${role}`);
    });

    const UP_TO_DATE = { code: 0, stdout: 'The database is up to date.\n' };

    it('repairs the role behind the pooler when only the default of that role is wrong', async () => {
      await database.query(`ALTER ROLE ${role} SET default_transaction_isolation = 'serializable'`);
      pooler = await startPgBouncer(serviceUrl);
      expect(await run('cli/admin.js', migrating(pooler.url), 'migrate')).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(
          `Made read committed the default isolation of the role ${role} in this database; it was serializable.`,
        ),
      });
      await endSessions();
      expect(await run('cli/admin.js', migrating(pooler.url), 'migrate')).toMatchObject(UP_TO_DATE);
    });

    it('changes no role when there is no pooler', async () => {
      await setDefault('serializable');
      const own = `IN DATABASE ${nameOf(database)} SET default_transaction_isolation = 'read committed'`;
      await database.query(`ALTER ROLE postgres ${own}`);
      // Neither is behind a pooler, so neither default matters to the service.
      expect(await run('cli/admin.js', migrating(serviceUrl), 'migrate')).toMatchObject(UP_TO_DATE);
    });

    it('reports an unreachable pooler, and migrates all the same', async () => {
      const { code, stdout } = await run(
        'cli/admin.js',
        migrating('postgresql://store@127.0.0.1:1/store'),
        'migrate',
      );
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(
          /^The default isolation and time zone of the service's role were not checked: .*ECONNREFUSED.*\nThe database is up to date.\n$/,
        ),
      ]);
    });
  });

  const migrating = (url: string) => ({
    APP_ENV: 'staging',
    DATABASE_URL: url,
    DIRECT_DATABASE_URL: database.url,
  });

  /** Makes the pooler reconnect, as RECONNECT does. */
  const endSessions = () =>
    database.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
});
