import { Agent, get, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { Connections } from '../../src/http/connections/connections.js';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { eventually, until } from '../support/eventually.js';
import { hold } from '../support/database/holding.js';
import { expectLocksWaitedFor } from '../support/database/locks.js';
import { dial, head, sendRaw } from '../support/http/raw-http.js';

let store: TestApplication;
let client: IssuedKey;

beforeEach(async () => {
  store = await startApplication();
  client = await store.issue();
});
afterEach(() => store.close());

const used = async () => {
  const [row] = await store.database.query<{ day_used: number }>(
    'SELECT day_used FROM rate_limit_counters WHERE bucket_key = $1',
    [`quota:${client.quotaId}`],
  );
  return row?.day_used ?? 0;
};
const rawRequest = (target: string) => head(`GET ${target}`, `Authorization: Bearer ${client.key}`);
/** Sends requests on one connection, and holds them by a lock. */
async function holdRequests(count: number) {
  const lock = await hold(store.database.url, 'LOCK TABLE pets');
  const responses = sendRaw(store.url, rawRequest('/v1/pets').repeat(count));
  await eventually(() => expectLocksWaitedFor(store.database, 1));
  return { lock, responses };
}
/** New connections are rejected once the server closes. */
const serverIsClosed = () =>
  eventually(() => expect(fetch(`${store.url}/livez`)).rejects.toThrow('fetch failed'));

describe('a service that drains', () => {
  it('serves requests on existing and new connections, with Connection: close', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const fetchTarget = async (target: string) => {
      const outgoing = get(`${store.url}${target}`, {
        agent,
        headers: { Authorization: `Bearer ${client.key}` },
      });
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
      await text(response);
      const { statusCode: status, headers } = response;
      return { status, connection: headers.connection, reused: outgoing.reusedSocket };
    };
    expect(await fetchTarget('/v1/pets')).toEqual({ status: 200, connection: 'keep-alive', reused: false });
    store.app.get(Connections).drain();
    expect(await fetchTarget('/v1/pets')).toEqual({ status: 200, connection: 'close', reused: true });
    // Whichever part responds: a handler, the filter, the router.
    for (const [target, status] of [
      ['/v1/pets', 200],
      ['/v1/pets/9', 404],
      ['/v1/pets/%zz', 404],
      ['/livez', 200],
    ]) {
      expect(await fetchTarget(String(target))).toEqual({ status, connection: 'close', reused: false });
    }
    agent.destroy();
    expect(await used()).toBe(5);
  });

  it('finishes all requests that a client has pipelined, with Connection: close on the last', async () => {
    const { lock, responses } = await holdRequests(3);
    store.app.get(Connections).drain();
    await lock.letGo();
    const { status, headers, body } = await responses;
    expect([status, headers['connection']]).toEqual([200, 'keep-alive']);
    expect(body.match(/^connection: \S+|HTTP\/1\.1 \d+/gim)).toEqual([
      'HTTP/1.1 200',
      'Connection: keep-alive',
      'HTTP/1.1 200',
      'Connection: close',
    ]);
  });
});

describe('a service that ends', () => {
  it('finishes requests in flight, however long they take', async () => {
    const { lock, responses } = await holdRequests(1);
    const closed = store.app.close();
    await serverIsClosed();
    await lock.letGo();
    expect(await responses).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await closed;
    expect(await used()).toBe(1);
    expect(store.app.get(Connections).cutOff).toBe(0);
  });

  it('lets a client read responses that are already made, then closes its connection', async () => {
    await store.database.query(
      'INSERT INTO pets (name, category_id) SELECT repeat(chr(1), 255), 1 FROM generate_series(1, 100)',
    );
    client = await store.issue({ plan: 'pro' });
    const opened = once(store.app.getHttpServer(), 'connection') as Promise<[Socket]>;
    const socket = dial(store.url).pause();
    // 4.7 MB: more than the buffers of both ends hold.
    socket.write(rawRequest('/v1/pets?limit=100').repeat(30));
    const [theirs] = await opened;
    await until(() => theirs.writableNeedDrain);
    const closed = store.app.close();
    await serverIsClosed();
    const statuses = (await text(socket)).match(/HTTP\/1\.1 \d+/g);
    expect(statuses).toEqual(Array(30).fill('HTTP/1.1 200'));
    await closed;
    expect(store.app.get(Connections).cutOff).toBe(0);
  });
});
