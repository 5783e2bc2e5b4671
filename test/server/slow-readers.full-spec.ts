import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Caddy, hasCaddy, startCaddy } from '../support/programs/caddy.js';
import { createDatabase, type TestDatabase } from '../support/database/database.js';
import { until } from '../support/eventually.js';
import { freePort } from '../support/service/free-port.js';
import { send } from '../support/http/http.js';
import { issueKey } from '../support/keys/keys.js';
import { sendRaw } from '../support/http/raw-http.js';
import { ServiceProcesses } from '../support/service/service-processes.js';
import { SilentClients } from '../support/load/silent-clients.js';

const UNLIMITED = { plan: 'enterprise', perMinute: 10_000_000, perDay: 10_000_000 } as const;
const CLIENTS = 3000;
const OPENED_AT_ONCE = 10;
/** More than the buffers of both ends of a connection hold by default: pages of 158 kB. */
const PIPELINED_PAGES = 20;
const MAX_MEMORY_BYTES = 350_000_000;
const MAX_WAIT_MS = 100;
/** A hundred names of 255 control characters, each of which takes six bytes in JSON. */
const LARGE_PAGE =
  'INSERT INTO pets (name, category_id) SELECT repeat(chr(1), 255), 1 FROM generate_series(1, 100)';
const LARGE_LIST_OF_KEYS = `
  INSERT INTO api_keys (id, quota_id, name, hash, prefix, last_four)
  SELECT gen_random_uuid(), (SELECT id FROM quotas LIMIT 1), repeat(chr(1), 255), decode(lpad(to_hex(n), 64, '0'), 'hex'), 'ask_test_', '0000'
  FROM generate_series(1, 100) n`;

const services = new ServiceProcesses();
const silent = new SilentClients();
let database: TestDatabase;
/** The key of the clients that do not read, and that of another client. */
let silentKey: string;
let key: string;

beforeAll(async () => {
  database = await createDatabase();
  await database.query(LARGE_PAGE);
  ({ key: silentKey } = await issueKey(database, { ...UNLIMITED, role: 'admin' }));
  ({ key } = await issueKey(database, UNLIMITED));
  await database.query(LARGE_LIST_OF_KEYS);
});
afterEach(async () => {
  await silent.close();
  await services.end('SIGTERM');
});
afterAll(() => database.drop());

/** Starts a replica, and waits until it is ready. */
async function start(env: Record<string, string> = {}) {
  const service = services.start({
    SHUTDOWN_DELAY: '0',
    LOG_LEVEL: 'error',
    // As in the image.
    MALLOC_ARENA_MAX: '1',
    DATABASE_URL: database.url,
    ...env,
  });
  return { url: await service.ready(), pid: service.pid };
}

const get = (path: string, as: string) =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${as}\r\n\r\n`;

/** Reads this many bytes at every interval, or all that has arrived. */
class SlowReader {
  bytesRead = 0;
  readonly closed: Promise<unknown>;

  constructor(url: string, localAddress: string, request: string, intervalMs: number, bytes?: number) {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), localAddress }).pause();
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => {});
    socket.write(request);
    const reading = setInterval(() => {
      this.bytesRead += (socket.read(bytes) as Buffer | null)?.length ?? 0;
      if (bytes !== undefined) {
        // A socket with unread data does not notice that the server closed it.
        socket.write('\r\n');
      }
    }, intervalMs);
    socket.once('close', () => clearInterval(reading));
  }
}

/** The peak resident memory of a process. */
async function peakMemoryBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

it.each([
  '/openapi.json',
  '/docs/swagger-ui-bundle.js',
  '/metrics',
  '/v1/pets?limit=100',
  '/admin/keys?limit=50',
])(
  'a replica stays below 350 MB, and serves others within 100 ms, while 3,000 clients do not read GET %s',
  async (path) => {
    const port = await freePort();
    const { url, pid } = await start({ METRICS_PORT: String(port) });
    const target = path === '/metrics' ? `http://127.0.0.1:${port}` : url;
    const waits: number[] = [];
    for (let opened = 0; opened < CLIENTS; opened += OPENED_AT_ONCE) {
      await silent.open(target, OPENED_AT_ONCE, get(path, silentKey));
      const sentMs = performance.now();
      expect(await send(`${url}/v1/pets?limit=1`, { key })).toMatchObject({ status: 200 });
      waits.push(performance.now() - sentMs);
    }
    const peak = await peakMemoryBytes(pid);
    const sorted = waits.toSorted((one, other) => one - other);
    const [median, most, longest] = [0.5, 0.95, 1].map(
      (share) => sorted[Math.ceil(share * sorted.length) - 1] ?? NaN,
    );
    process.stdout.write(
      `${path}: ${Math.round(peak / 1e6)} MB; others waited ${median?.toFixed()} ms (median), ${most?.toFixed()} ms (95 %), ${longest?.toFixed()} ms (longest)\n`,
    );
    expect(peak).toBeLessThan(MAX_MEMORY_BYTES);
    expect(median).toBeLessThan(MAX_WAIT_MS);
  },
);

it('a replica closes connections that read a byte a second, but none that reads steadily, slowly or not', async () => {
  const { url } = await start();
  const requests = get('/v1/pets?limit=100', key).repeat(PIPELINED_PAGES);
  const size = Buffer.byteLength((await send(`${url}/v1/pets?limit=100`, { key })).text);
  const last = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const slow = Array.from(
    { length: 20 },
    () => new SlowReader(url, '127.2.0.1', requests.repeat(3), 1000, 1),
  );
  const steady = [20, 200].map(
    (intervalMs, index) => new SlowReader(url, `127.3.0.${index + 1}`, requests + last, intervalMs),
  );
  await until(() => steady.every(({ bytesRead }) => bytesRead > size));
  await silent.open(url, 600, get('/v1/pets?limit=100', silentKey));
  await Promise.all([...steady, ...slow].map(({ closed }) => closed));
  for (const { bytesRead } of steady) {
    expect(bytesRead).toBeGreaterThan(PIPELINED_PAGES * size);
  }
  expect(Math.max(...slow.map(({ bytesRead }) => bytesRead))).toBeLessThan(60);
});

it('a replica serves clients of documents at 30 kB a second while 200 others read nothing', async () => {
  const { url } = await start();
  const request = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  const size = Buffer.byteLength((await send(`${url}/openapi.json`)).text);
  await silent.open(url, 200, get('/docs/swagger-ui-bundle.js', key));
  const readers = Array.from({ length: 4 }, () => new SlowReader(url, '127.3.0.1', request, 1000));
  await silent.open(url, 200, get('/docs/swagger-ui-bundle.js', key));
  await Promise.all(readers.map(({ closed }) => closed));
  expect(readers.every(({ bytesRead }) => bytesRead > size)).toBe(true);
});

it('a replica stays below 350 MB while 150 clients without a key send bodies in chunks of one byte', async () => {
  const { url, pid } = await start();
  const head =
    'POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  await silent.open(url, 150, head + '1\r\nx\r\n'.repeat(60_000));
  for (let sent = 0; sent < 20; sent += 1) {
    expect(await send(`${url}/v1/pets?limit=1`, { key })).toMatchObject({ status: 200 });
  }
  const peak = await peakMemoryBytes(pid);
  process.stdout.write(`Bodies in chunks of one byte: ${Math.round(peak / 1e6)} MB\n`);
  expect(peak).toBeLessThan(MAX_MEMORY_BYTES);
});

const livez = (headers = '') => `GET /livez HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const postX = (header: string, body: string) => `POST /x HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n${body}`;
/** Its response is larger than the buffers of both ends of a connection. */
const UNREAD = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n';

it.each([
  ['100 of short requests', 100, livez()],
  ['3,000 of long headers', 3000, livez(`X: ${'x'.repeat(15 * 1024)}\r\n`)],
  ['300 of many headers', 300, livez('a:\r\n'.repeat(3800))],
  ['3,000 of a body', 3000, postX('Content-Length: 60000', 'x'.repeat(60_000))],
  ['300 of a body in tiny chunks', 300, postX('Transfer-Encoding: chunked', '1\r\nx\r\n'.repeat(10_000))],
])(
  'a replica stays below 350 MB while clients pipeline 64 KiB each and read nothing: %s',
  async (name, clients, pipelined) => {
    const { url, pid } = await start();
    const sent = UNREAD + pipelined.repeat(Math.floor((64 * 1024 - UNREAD.length) / pipelined.length));
    for (let opened = 0; opened < clients; opened += clients / 20) {
      await silent.open(url, clients / 20, sent);
      expect(await send(`${url}/v1/pets?limit=1`, { key })).toMatchObject({ status: 200 });
    }
    const peak = await peakMemoryBytes(pid);
    process.stdout.write(`${name}: ${Math.round(peak / 1e6)} MB\n`);
    expect(peak).toBeLessThan(MAX_MEMORY_BYTES);
  },
);

it('a client that pipelines is served while others read nothing and fill the memory for waiting requests', async () => {
  const { url } = await start();
  // Ever smaller, so that in the end there is no memory left for any.
  for (const [clients, requests] of [
    [10, 2000],
    [10, 200],
    [20, 20],
    [20, 1],
  ] as const) {
    await silent.open(url, clients, UNREAD + livez().repeat(requests));
  }
  const last = 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
  for (let client = 0; client < 20; client += 1) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(livez().repeat(3) + last);
    const received = await text(socket);
    expect(received.match(/HTTP\/1.1 \d+/g)).toEqual([...Array(3).fill('HTTP/1.1 200'), 'HTTP/1.1 401']);
  }
});

it('a replica with 10,000 connections closes the oldest unused one for each new one', async () => {
  const { url } = await start();
  const { hostname, port } = new URL(url);
  const open = async () => {
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return socket.setEncoding('utf8');
  };
  const oldest = await open();
  const closed = once(oldest.resume(), 'close');
  await silent.open(url, 9_999, '');
  const newest = await open();
  await closed;
  await silent.open(url, 100, '');
  newest.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(await once(newest, 'data')).toEqual([expect.stringMatching(/^HTTP\/1.1 200 OK/)]);
  newest.destroy();
});

it('a replica closes idle connections for new ones beyond 10,000, and stays below 350 MB', async () => {
  const { url, pid } = await start();
  const idle = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
  await silent.open(url, 10_500, idle);
  // On a new connection: a kept-alive one is idle too, and could be closed at this moment.
  const request = get('/v1/pets?limit=1', key).replace('Host', 'Connection: close\r\nHost');
  expect(await sendRaw(url, request)).toMatchObject({ status: 200 });
  const descriptors = await readdir(`/proc/${pid}/fd`);
  expect(descriptors.length).toBeLessThan(10_100);
  expect(await peakMemoryBytes(pid)).toBeLessThan(MAX_MEMORY_BYTES);
});

describe.each<[string, (replicaUrl: string) => Promise<Caddy>]>([
  ['directly', async (url) => ({ url, stop: async () => {} })],
  ...(hasCaddy() ? [['through a balancer', startCaddy] as [string, typeof startCaddy]] : []),
])('260 clients of one key that read nothing, %s,', (_name, startBalancer) => {
  it('leave slots of the operation to other keys', async () => {
    const pro = await issueKey(database, { plan: 'pro' });
    const { url } = await start();
    const balancer = await startBalancer(url);
    try {
      await silent.open(balancer.url, 260, get('/v1/pets?limit=100', pro.key));
      await until(async () => {
        const { json } = await send(`${url}/v1/rate-limit`, { key: pro.key });
        // The rest may have found no slot, as they arrived together.
        return json.windows[1].remaining <= 10_000 - 250;
      });
      for (let sent = 0; sent < 20; sent += 1) {
        expect(await send(`${balancer.url}/v1/pets?limit=1`, { key })).toMatchObject({ status: 200 });
      }
    } finally {
      await silent.close();
      await balancer.stop();
    }
  });
});
