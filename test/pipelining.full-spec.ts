import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { ConcurrencyLimit } from '../src/server/concurrency-limit.js';
import { startApplication } from './support/application.js';
import { createDatabase } from './support/database.js';
import { send } from './support/http.js';
import { issueKey } from './support/keys.js';
import { ServiceProcesses } from './support/service-processes.js';
import { SilentClients } from './support/silent-clients.js';

const UNLIMITED = { plan: 'enterprise', perMinute: 10_000_000, perDay: 10_000_000 } as const;
const MAX_MEMORY_BYTES = 350_000_000;
const KIB = 1024;

/** The peak resident memory of a process. */
async function peakMemoryBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

describe('20,000 pipelined requests', () => {
  it('hold one slot, and each gets its response', async () => {
    const COUNT = 20_000;
    const store = await startApplication();
    // Most of them exceed its limit, which takes a slot as well.
    const { key } = await store.issue({ plan: 'free' });
    const limit = store.app.get(ConcurrencyLimit);
    let most = 0;
    const countSlots = () => {
      const slots = limit.all().map((load) => load.slots.length);
      most = Math.max(most, ...slots);
    };
    const sampling = setInterval(countSlots, 1);
    const list = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
    const socket = connect(Number(new URL(store.url).port), '127.0.0.1');
    socket.write(`${list}\r\n`.repeat(COUNT - 1) + `${list}Connection: close\r\n\r\n`);
    let received = 0;
    for await (const part of socket.setEncoding('latin1')) {
      countSlots();
      received += (part as string).split('HTTP/1.1 ').length - 1;
    }
    clearInterval(sampling);
    expect([received, most]).toEqual([COUNT, 1]);
    await store.close();
  });
});

describe('a service whose clients pipeline 64 KiB each and read nothing', () => {
  const request = (headers = '') => `GET /livez HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
  const chunks = '1\r\nx\r\n'.repeat(10_000);
  it.each([
    ['short requests', 100, request()],
    ['long headers', 3000, request(`X: ${'x'.repeat(15 * KIB)}\r\n`)],
    ['many headers', 300, request('a:\r\n'.repeat(3800))],
    ['a body', 3000, `POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n${'x'.repeat(60_000)}`],
    [
      'a body in tiny chunks',
      300,
      `POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
    ],
  ])('stays below 350 MB and serves others: %s of %d clients', async (_name, clients, pipelined) => {
    const database = await createDatabase();
    const services = new ServiceProcesses();
    const silent = new SilentClients();
    try {
      const { key } = await issueKey(database, UNLIMITED);
      const service = services.start({ SHUTDOWN_DELAY: '0', LOG_LEVEL: 'error', DATABASE_URL: database.url });
      const url = await service.ready();
      // Its response is larger than the buffers of both ends of a connection.
      const unread = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n';
      const sent = unread + pipelined.repeat(Math.floor((64 * KIB - unread.length) / pipelined.length));
      for (let opened = 0; opened < clients; opened += clients / 20) {
        await silent.open(url, clients / 20, sent);
        expect((await send(`${url}/v1/pets`, { key })).status).toBe(200);
      }
      const peak = await peakMemoryBytes(service.pid);
      process.stdout.write(`${_name}: ${Math.round(peak / 1e6)} MB\n`);
      expect(peak).toBeLessThan(MAX_MEMORY_BYTES);
    } finally {
      await silent.close();
      await services.end('SIGKILL');
      await database.drop();
    }
  });
});

it('a client that pipelines is served while others read nothing and fill the memory for waiting requests', async () => {
  const database = await createDatabase();
  const services = new ServiceProcesses();
  const silent = new SilentClients();
  try {
    const service = services.start({ SHUTDOWN_DELAY: '0', LOG_LEVEL: 'error', DATABASE_URL: database.url });
    const url = await service.ready();
    const unread = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n';
    const request = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
    // Ever smaller, so that in the end there is no memory left for any.
    for (const [clients, requests] of [
      [10, 2000],
      [10, 200],
      [20, 20],
      [20, 1],
    ] as const) {
      await silent.open(url, clients, unread + request.repeat(requests));
    }
    const last = 'GET /v1/pets HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    for (let client = 0; client < 20; client += 1) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.write(request.repeat(3) + last);
      const received = await text(socket);
      expect(received.match(/HTTP\/1.1 \d+/g)).toEqual([...Array(3).fill('HTTP/1.1 200'), 'HTTP/1.1 401']);
    }
  } finally {
    await silent.close();
    await services.end('SIGKILL');
    await database.drop();
  }
});
