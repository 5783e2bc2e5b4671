import { query } from '../support/database/database.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/programs/database-proxy.js';
import { hasPatroni, PatroniCluster } from '../support/programs/patroni.js';
import { eventually, until } from '../support/eventually.js';
import { expectPromisesKept, type Readiness } from './fault-promises.js';
import { suffer } from './faults.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { LimitedClient } from './limited-client.js';
import { OperatedService } from './operated-service.js';

const LIMIT = 20;
/** Longer than Patroni takes to replace a primary. */
const FAILOVER_MS = 15_000;

(hasPatroni() ? describe : describe.skip)('a service on a PostgreSQL with a synchronous standby', () => {
  let cluster: PatroniCluster;
  /** Leads to the HAProxy, or elsewhere. */
  let address: DatabaseProxy;
  let service: OperatedService;
  let url: string;

  beforeAll(async () => {
    cluster = await PatroniCluster.start();
    address = await startDatabaseProxy(cluster.url());
    service = await OperatedService.on({
      url: (database, user) => cluster.url(database, user).replace(/127[^/]+/, new URL(address.url).host),
      remove: () => cluster.remove(),
    });
    url = await service.startReady();
  });
  beforeEach(async () => {
    await cluster.settle();
    await until(async () => (await send(`${url}/readyz`)).status === 200);
  });
  afterAll(async () => {
    await service.stop();
    address.close();
  });

  type Step = (primary: string) => Promise<unknown>;
  const faults: [what: string, readiness: Readiness, happen: Step, undo: Step][] = [
    ['is killed', 'not ready', (name) => cluster.kill(name), (name) => cluster.restart(name)],
    ['hangs (SIGSTOP)', 'not ready', (name) => cluster.freeze(name), async (name) => cluster.goOn(name)],
    ['is cut off', 'not ready', async (name) => cluster.cutOff(name), (name) => cluster.connectAgain(name)],
    ['is replaced on purpose', 'either', () => cluster.switchOver(), async () => {}],
  ];
  it.each(faults)(
    'loses no acknowledged write, keeps its declared limits, and runs on when the primary %s',
    async (_what, readiness, happen, undo) => {
      const old = await cluster.primary();
      const { key } = await issueKey(
        { url: service.databaseUrl },
        { plan: 'enterprise', perMinute: LIMIT, perDay: 100_000 },
      );
      const limited = new LimitedClient(url, key);
      const course = await suffer(url, service.key, {
        happen: () => happen(old ?? ''),
        lastsMs: 0,
        end: () => eventually(() => service.query('CREATE TEMPORARY TABLE written ()'), FAILOVER_MS),
      });
      const allowed = await limited.stop();
      process.stdout.write(`Allowed at most ${allowed} of ${LIMIT} in a minute\n`);
      expect(await cluster.primary()).not.toBe(old);
      await expectPromisesKept(service, course, readiness);
      // One replica counts locally, which may exceed a window by one limit.
      expect(allowed).toBeLessThanOrEqual(2 * LIMIT);
      await undo(old ?? '');
    },
  );

  it("acknowledges writes again within ten seconds after the standby's link lost its replies", async () => {
    const course = await suffer(url, service.key, {
      happen: async () => cluster.proxies((await cluster.primary()) ?? '').postgres.loseReplies(),
      lastsMs: 0,
      // The commit waits for the standby.
      end: () => service.query('CREATE TABLE followed (); DROP TABLE followed'),
    });
    expect(course.withoutWritesMs).toBeLessThan(10_000);
  });

  it('uses no connection to a standby, and serves again once its address leads to the primary', async () => {
    const port = await cluster.standbyPort();
    expect(
      await query(`postgres://postgres@127.0.0.1:${port}/postgres`, 'SELECT pg_is_in_recovery() AS is'),
    ).toEqual([{ is: true }]);
    const list = () => send(`${url}/v1/pets`, { key: service.key });
    address.leadTo(port);
    address.goAway();
    await address.comeBack();
    try {
      await until(async () => (await send(`${url}/readyz`)).status === 503);
      const listed = await Promise.all(Array.from({ length: 20 }, list));
      expect(new Set(listed.map(({ status }) => status))).toEqual(new Set([503]));
    } finally {
      address.leadTo(Number(new URL(cluster.url()).port));
    }
    await until(async () => (await send(`${url}/readyz`)).status === 200);
    const written = await Promise.all(
      Array.from({ length: 20 }, () =>
        send(`${url}/v1/pets`, { method: 'POST', key: service.key, body: { name: 'Rex', categoryId: 1 } }),
      ),
    );
    expect(new Set(written.map(({ status }) => status))).toEqual(new Set([201]));
  });
});
