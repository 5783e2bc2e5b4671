import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { issueKey, UNLIMITED } from '../support/keys/keys.js';
import { ServiceProcesses } from '../support/service/service-processes.js';

let database: TestDatabase;
const services = new ServiceProcesses(() => ({ DATABASE_URL: database.url, LOG_LEVEL: 'warn' }));
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(async () => {
  agent.destroy();
  await services.end('SIGKILL');
  await database.drop();
});

describe('a process that may open no more files', () => {
  it('returns 503 while it cannot connect to the database, and serves again once it can', async () => {
    const { key } = await issueKey(database, UNLIMITED);
    const { key: adminKey } = await issueKey(database, { ...UNLIMITED, role: 'admin' });
    const service = services.start();
    const url = await service.ready();
    /** Sends a request on the one connection that is open. */
    const call = async (method: string, path: string, as: string) => {
      const headers = { Authorization: `Bearer ${as}`, 'Content-Type': 'application/json' };
      const sent = request(url + path, { agent, method, headers });
      sent.end(method === 'POST' ? '{"name":"Rex","categoryId":7}' : undefined);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      const { code } = JSON.parse(await text(response)) as { code?: string };
      return [response.statusCode, code, response.headers['retry-after'] !== undefined];
    };
    const calls = async () => [
      await call('GET', '/v1/pets', key),
      await call('POST', '/v1/pets', key),
      await call('GET', '/v1/pets/7', key),
      await call('GET', '/admin/keys', adminKey),
      await call('GET', '/admin/plans', adminKey),
    ];
    await calls();
    execFileSync('prlimit', ['--pid', String(service.pid), '--nofile=3:']);
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'animal-store'`,
    );
    for (let round = 0; round < 3; round += 1) {
      expect(await calls()).toEqual(Array.from({ length: 5 }, () => [503, 'service_unavailable', true]));
    }
    execFileSync('prlimit', ['--pid', String(service.pid), '--nofile=1024:']);
    await until(async () => (await send(`${url}/v1/pets`, { key })).status === 200);
    expect(service.stdout).not.toContain('internal_error');
  });
});
