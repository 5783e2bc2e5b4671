import { setTimeout as pause } from 'node:timers/promises';
import getPort from 'get-port';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { issueKey, UNLIMITED } from '../support/keys/keys.js';
import { aggregateUsage } from '../support/keys/usage.js';
import { isServed, Load } from '../support/http/load.js';
import { haproxy, type Haproxy, startHaproxy } from '../support/programs/load-balancers.js';
import type { Ended, ServiceProcess } from '../support/service/service-process.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

const REPLICAS = 3;
/** The time of load before the first restart, and after the last. */
const ASIDE_MS = 1_000;

(haproxy() !== undefined ? describe : describe.skip)(
  'three replicas behind a load balancer, restarted one after the other under constant load,',
  () => {
    const services = new ServiceProcesses(() => ({
      DATABASE_URL: database.url,
      LOG_LEVEL: 'warn',
      SHUTDOWN_DELAY: '1s',
    }));
    const ended: Ended[] = [];
    let database: TestDatabase;
    let proxy: Haproxy;
    let load: Load;

    beforeAll(async () => {
      database = await createDatabase();
      const { key } = await issueKey(database, UNLIMITED);
      const ports = await Promise.all(Array.from({ length: REPLICAS }, () => getPort({ host: '127.0.0.1' })));
      proxy = await startHaproxy(ports);
      const start = async (port: number): Promise<ServiceProcess> => {
        const replica = services.start({ PORT: String(port) });
        await replica.listening();
        await proxy.sends(port);
        return replica;
      };
      const running = await Promise.all(ports.map(start));
      load = new Load(proxy.url, key);
      await pause(ASIDE_MS);
      for (const [index, replica] of [...running].entries()) {
        ended.push(await replica.kill('SIGTERM'));
        running[index] = await start(ports[index] ?? 0);
      }
      await pause(ASIDE_MS);
      await load.stop();
      ended.push(...(await Promise.all(running.map((replica) => replica.kill('SIGTERM')))));
    });
    afterAll(async () => {
      await services.end('SIGTERM');
      await proxy.stop();
      await database.drop();
    });

    it('serve every request', () => {
      const failed = load.seen.filter((seen) => !isServed(seen));
      expect(failed.map(({ response }) => response?.text)).toStrictEqual([]);
      expect(load.seen.length).toBeGreaterThan(1000);
    });

    it('keep every animal that was acknowledged', async () => {
      const rows = await database.query<{ id: string; name: string }>('SELECT id, name FROM pets');
      expect(new Map(rows.map(({ id, name }) => [Number(id), name]))).toEqual(load.acknowledged);
    });

    it('record every request as usage', async () => {
      await aggregateUsage(database.url);
      const [row] = await database.query<{ requests: number }>(
        "SELECT sum(succeeded)::int AS requests FROM usage WHERE period = 'minute'",
      );
      expect(row?.requests).toBe(load.seen.length);
    });

    it('end with exit code 0 each, without warnings', () => {
      expect(ended).toEqual(
        Array.from({ length: 2 * REPLICAS }, () => ({
          code: 0,
          signal: null,
          stdout: expect.not.stringMatching(/"level":"(warn|error|fatal)"/),
          stderr: '',
        })),
      );
    });
  },
);
