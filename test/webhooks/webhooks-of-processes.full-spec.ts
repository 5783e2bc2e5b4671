import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { eventually, until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { ServiceProcesses } from '../support/service/service-processes.js';
import { insertDeliveries } from './insert-deliveries.js';
import { useReceiver } from '../support/programs/receiver.js';

const WIDE = { plan: 'enterprise', perMinute: 1_000_000, perDay: 10_000_000 } as const;
const KEYS = 60;

const receiver = useReceiver();
let database: TestDatabase;
let key: string;
const services = new ServiceProcesses(() => ({
  DATABASE_URL: database.url,
  LOG_LEVEL: 'warn',
  WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true',
}));

beforeAll(async () => {
  database = await createDatabase();
  ({ key } = await issueKey(database, { ...WIDE, role: 'admin' }));
});
afterEach(async () => {
  await services.end('SIGKILL');
  await database.query('DELETE FROM webhooks');
});
afterAll(() => database.drop());

const post = (url: string, path: string, body?: object) =>
  send(`${url}/admin${path}`, { method: 'POST', key, body });

async function createWebhook(url: string, target = receiver.url): Promise<string> {
  return (await post(url, '/webhooks', { url: target, events: ['key.revoked'] })).json.id;
}

/** Causes an event. */
async function revokeKey(url: string): Promise<void> {
  const { id } = (await post(url, '/keys', { name: 'a', plan: 'free' })).json;
  await post(url, `/keys/${id}/revoke`);
}

const receivedIds = () => receiver.received.map(({ headers }) => headers['webhook-id']);
const states = () =>
  database.query<{ state: string; failure: string | null }>(
    'SELECT state, last_failure AS failure FROM webhook_deliveries',
  );
const isDelivered = async () => (await states()).every(({ state }) => state === 'delivered');

/** Returns the process that sends the webhooks of a service, the only one that it starts. */
const senderOf = async ({ pid }: { pid: number }): Promise<string> =>
  (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim();
const linuxIt = process.platform === 'linux' ? it : it.skip;

describe('the process that sends webhooks', () => {
  linuxIt('is started by the first delivery, and ends with its service, though that is killed', async () => {
    receiver.respond = () => {};
    const service = services.start();
    await service.ready();
    expect(await senderOf(service)).toBe('');
    await insertDeliveries(database, receiver.url, 1);
    await until(() => receiver.received.length === 1);
    const sender = await senderOf(service);
    expect(sender).toMatch(/^\d+$/);
    await service.kill('SIGKILL');
    await until(() => !existsSync(`/proc/${sender}`));
  });

  linuxIt('ends with its service, not by the signal that Ctrl-C sends to both', async () => {
    receiver.respond = () => {};
    const service = services.start();
    await service.ready();
    await insertDeliveries(database, receiver.url, 1);
    await until(() => receiver.received.length === 1);
    const sender = await senderOf(service);
    expect(await service.interrupt()).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(`/proc/${sender}`)).toBe(false);
    expect(await states()).toEqual([{ state: 'pending', failure: 'The service ended' }]);
    expect(service.stdout).not.toContain('process that sends webhooks');
  });
});

describe('two replicas', () => {
  it('deliver each successful revocation at least once, though one after the other is killed', async () => {
    // A few deliveries are in flight at every moment.
    receiver.respond = (response) => setTimeout(() => response.writeHead(204).end(), 50);
    const [one, other] = [services.start(), services.start()];
    const urls = [await one.ready(), await other.ready()];
    await createWebhook(urls[0] ?? '');
    const issued = await Promise.all(
      Array.from(
        { length: KEYS },
        async () => (await post(urls[0] ?? '', '/keys', { name: 'a', plan: 'free' })).json,
      ),
    );
    const revoked = new Set<string>();
    const revoke = async (ids: string[], url = '') => {
      for (const id of ids) {
        const response = await post(url, `/keys/${id}/revoke`).catch(() => null);
        if (response?.status === 200) {
          revoked.add(id);
        }
      }
    };
    const ids = issued.map(({ id }) => String(id));
    const revoking = [revoke(ids.slice(0, KEYS / 2), urls[0]), revoke(ids.slice(KEYS / 2), urls[1])];
    await until(() => receiver.received.length >= 3 && revoked.size >= 10);
    await one.kill('SIGKILL');
    await Promise.all(revoking);
    const third = services.start();
    await third.ready();
    await other.kill('SIGKILL');
    // As if the waits of the killed ones were over.
    await database.query("UPDATE webhook_deliveries SET next_attempt_at = now() WHERE state = 'pending'");
    await until(isDelivered, 30_000);
    const told = new Set(
      receiver.received.map(({ body }) => (JSON.parse(body) as { data: { keyId: string } }).data.keyId),
    );
    expect(revoked.size).toBeGreaterThanOrEqual(KEYS / 2);
    expect([...revoked].filter((id) => !told.has(id))).toStrictEqual([]);
    const stored = await database.query<{ id: string }>(
      'SELECT id FROM api_keys WHERE revoked_at IS NOT NULL',
    );
    expect(stored.map(({ id }) => id).filter((id) => !told.has(id))).toStrictEqual([]);
  });
});

describe('a replica that is stopped', () => {
  it('ends in order while receivers hang, and the next replica sends the deliveries', async () => {
    receiver.respond = () => {};
    const stopped = services.start();
    await stopped.ready();
    await insertDeliveries(database, `${receiver.url}/1`, 10);
    await insertDeliveries(database, `${receiver.url}/2`, 10);
    await until(() => receiver.received.length === 20);
    const started = performance.now();
    expect(await stopped.kill('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
    expect(performance.now() - started).toBeLessThan(5000);
    const ended = { state: 'pending', failure: 'The service ended' };
    expect(await states()).toEqual(Array.from({ length: 20 }, () => ended));
    receiver.reset();
    const next = services.start();
    await next.ready();
    await until(isDelivered, 25_000);
    expect(new Set(receivedIds()).size).toBe(20);
  });
});

describe('a receiver that hangs', () => {
  it('fails after 15 s, and meanwhile delays no other receiver and no request', async () => {
    receiver.respond = (response, { path }) => {
      if (path !== '/hanging') {
        response.writeHead(204).end();
      }
    };
    const url = await services.start().ready();
    await createWebhook(url, receiver.url.replace('/hook', '/hanging'));
    await revokeKey(url);
    await until(() => receiver.received.length >= 1);
    await createWebhook(url);
    await revokeKey(url);
    await until(() => receiver.received.some(({ path }) => path === '/hook'), 2000);
    expect((await send(`${url}/v1/pets`, { key })).status).toBe(200);
    // The next waits for the first.
    expect(receiver.received.filter(({ path }) => path === '/hanging')).toHaveLength(1);
    await eventually(async () => {
      const failures = (await states()).filter(({ failure }) => failure !== null);
      expect(failures).toContainEqual({ state: 'pending', failure: 'No response within 15 s' });
    }, 20_000);
  });
});
