import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import getPort from 'get-port';
import { haproxy, type Haproxy, startHaproxy } from '../support/programs/load-balancers.js';
import { issueKey } from '../support/keys/keys.js';
import { type Ended, ServiceProcess } from '../support/service/service-process.js';
import { aggregateUsage } from '../support/keys/usage.js';

const REPLICAS = 3;
const CONNECTIONS = 20;
/** One of this many requests of a connection adds an animal. */
const POST_EVERY = 4;
/** The time of load before the first restart, and after the last. */
const ASIDE_MS = 2_000;

interface Results {
  requests: number;
  added: number[];
  failures: string[];
  longestMs: number;
}

/** Runs a client that sends one request after another on a kept-alive connection. */
async function runClient(url: string, key: string, results: Results, isOver: () => boolean): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let turn = 0; !isOver(); turn += 1) {
    const adds = turn % POST_EVERY === 0;
    const startedMs = performance.now();
    try {
      const call = request(`${url}/v1/pets${adds ? '' : '?limit=5'}`, {
        agent,
        method: adds ? 'POST' : 'GET',
        headers: { Authorization: `Bearer ${key}`, ...(adds && { 'Content-Type': 'application/json' }) },
      });
      call.end(adds ? '{"name":"Rolling","categoryId":1}' : undefined);
      const [response] = (await once(call, 'response')) as [IncomingMessage];
      const body = await text(response);
      if (response.statusCode === 201) {
        results.added.push(JSON.parse(body).id);
      } else if (response.statusCode !== 200) {
        results.failures.push(`${response.statusCode} ${body}`);
      }
    } catch (error) {
      results.failures.push(String(error));
    }
    results.requests += 1;
    results.longestMs = Math.max(results.longestMs, performance.now() - startedMs);
  }
  agent.destroy();
}

(haproxy() !== undefined ? describe : describe.skip)(
  'three replicas behind a load balancer, restarted one after the other under constant load,',
  () => {
    const results: Results = { requests: 0, added: [], failures: [], longestMs: 0 };
    const ended: Ended[] = [];
    let database: TestDatabase;
    let proxy: Haproxy;
    let running: ServiceProcess[] = [];

    beforeAll(async () => {
      database = await createDatabase();
      const { key } = await issueKey(database, {
        plan: 'enterprise',
        perMinute: 10_000_000,
        perDay: 100_000_000,
      });
      const ports = await Promise.all(Array.from({ length: REPLICAS }, () => getPort({ host: '127.0.0.1' })));
      const start = async (port: number) => {
        const replica = new ServiceProcess('main.js', {
          NODE_ENV: 'production',
          APP_ENV: 'staging',
          DATABASE_URL: database.url,
          HOST: '127.0.0.1',
          PORT: String(port),
          LOG_LEVEL: 'warn',
          SHUTDOWN_DELAY: '2s',
        });
        await replica.listening();
        await proxy.sends(port);
        return replica;
      };
      proxy = await startHaproxy(ports);
      running = await Promise.all(ports.map(start));

      let isOver = false;
      const startedMs = performance.now();
      const load = Promise.all(
        Array.from({ length: CONNECTIONS }, () => runClient(proxy.url, key, results, () => isOver)),
      );
      const aside = () => new Promise((resolve) => setTimeout(resolve, ASIDE_MS));
      await aside();
      for (const [index, port] of ports.entries()) {
        ended.push((await running[index]?.kill('SIGTERM')) as Ended);
        running[index] = await start(port);
      }
      await aside();
      isOver = true;
      await load;
      ended.push(...(await Promise.all(running.splice(0).map((replica) => replica.kill('SIGTERM')))));
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      process.stdout.write(
        `Rolling restart: ${results.requests} requests in ${seconds} s, ${results.added.length} of them animals added, ` +
          `${results.failures.length} failed, longest response ${Math.round(results.longestMs)} ms\n`,
      );
    });
    afterAll(async () => {
      await Promise.all(running.map((replica) => replica.kill('SIGTERM')));
      await proxy.stop();
      await database.drop();
    });

    it('serve every request', () => {
      expect(results.failures).toEqual([]);
      expect(results.requests).toBeGreaterThan(1000);
    });

    it('keep every animal that was acknowledged', async () => {
      const rows = await database.query<{ id: string }>("SELECT id FROM pets WHERE name = 'Rolling'");
      expect(rows.map(({ id }) => Number(id)).toSorted((a, b) => a - b)).toEqual(
        results.added.toSorted((a, b) => a - b),
      );
    });

    it('record every request as usage', async () => {
      await aggregateUsage(database.url);
      const [row] = await database.query<{ requests: number }>(
        "SELECT sum(succeeded)::int AS requests FROM usage WHERE period = 'minute'",
      );
      expect(row?.requests).toBe(results.requests);
    });

    it('end with exit code 0 each, without warnings', () => {
      expect(ended.map(({ code, signal }) => [code, signal])).toEqual(
        Array.from({ length: 2 * REPLICAS }, () => [0, null]),
      );
      expect(ended.map(({ stderr }) => stderr)).toEqual(Array(2 * REPLICAS).fill(''));
      expect(ended.filter(({ stdout }) => /"level":"(warn|error|fatal)"/.test(stdout))).toEqual([]);
    });
  },
);
