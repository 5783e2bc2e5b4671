import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { MetricsServer } from '../../src/metrics/metrics.server.js';
import { startApplication, type TestApplication } from '../support/service/application.js';
import { until } from '../support/eventually.js';
import { send } from '../support/http/http.js';
import { slotsTaken } from '../support/service/slots.js';

const BYTE_INTERVAL_MS = 1000;
/** More than the buffers of both ends hold. */
const LARGE = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20);
const KIB = 1024;

let store: TestApplication;
let key: string;

beforeAll(async () => {
  store = await startApplication({ environment: { METRICS_PORT: 0 } });
  ({ key } = await store.issue({ plan: 'pro' }));
});
afterAll(() => store.close());

const servicePort = () => Number(new URL(store.url).port);
const metricsPort = () => store.app.get(MetricsServer).port ?? 0;

interface Outcome {
  statuses: string[];
  /** The last response. */
  body: string;
  seconds: number;
}

/** Sends the beginning, then a byte each second, until the server closes the connection. */
async function sendSlowly(port: number, beginning: string): Promise<Outcome> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  const start = performance.now();
  let received = '';
  socket.on('data', (text: string) => (received += text));
  // The server may have closed the connection while a byte is on its way.
  socket.on('error', () => {});
  socket.write(beginning);
  const sending = setInterval(() => socket.write('1'), BYTE_INTERVAL_MS);
  await new Promise((done) => socket.once('close', done));
  clearInterval(sending);
  return {
    statuses: [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => String(status)),
    body: received.split('\r\n\r\n').at(-1) ?? '',
    seconds: (performance.now() - start) / 1000,
  };
}

/** Opens a connection; returns the sockets of the client and of the server. */
async function open(): Promise<[Socket, Socket]> {
  const opened = new Promise<Socket>((resolve) => {
    store.app.getHttpServer().on('connection', function is(serverSocket: Socket) {
      if (serverSocket.remotePort === socket.localPort) {
        store.app.getHttpServer().off('connection', is);
        resolve(serverSocket);
      }
    });
  });
  const socket = connect(servicePort(), '127.0.0.1').pause();
  return [socket, await opened];
}

const headers = (request: string) => `${request} HTTP/1.1\r\nHost: x\r\nX-A: `;
const headWithBody = (request: string) => `${request} HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\n\r\n`;

describe('a slow request', () => {
  it.concurrent.each([
    ['the service', servicePort],
    ['the metrics', metricsPort],
  ])('gets 408 when its headers take more than twenty seconds: %s', async (_name, port) => {
    const outcome = await sendSlowly(port(), headers('GET /livez'));
    expect(outcome.statuses).toEqual(['408']);
    expect(JSON.parse(outcome.body)).toEqual({
      code: 'request_timeout',
      message: expect.any(String),
      status: 408,
    });
    expect(outcome.seconds).toBeGreaterThan(19);
    expect(outcome.seconds).toBeLessThan(27);
  });

  it.concurrent.each([
    ['GET /livez', '200', servicePort],
    ['POST /nothing', '404', servicePort],
    ['GET /metrics', '200', metricsPort],
    ['POST /metrics', '405', metricsPort],
  ])(
    'has thirty seconds for a body after its response, and gets no second response: %s',
    async (request, status, port) => {
      const outcome = await sendSlowly(port(), headWithBody(request));
      expect(outcome.statuses).toEqual([status]);
      expect(outcome.seconds).toBeGreaterThan(29);
      expect(outcome.seconds).toBeLessThan(37);
    },
  );
});

describe('bodies that do not arrive completely', () => {
  const sockets: Socket[] = [];
  afterAll(() => sockets.forEach((socket) => socket.destroy()));

  it('take no memory from other clients: beyond 64 MiB the oldest get 503', async () => {
    const { key: slow } = await store.issue({ plan: 'enterprise', perMinute: 10_000, perDay: 10_000 });
    const statuses = Array.from<string | undefined>({ length: 1100 });
    const beginning = [
      'POST /v1/pets HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${slow}`,
      'Content-Type: application/json',
      `Content-Length: ${64 * KIB}`,
      `\r\n${' '.repeat(64 * KIB - 1)}`,
    ].join('\r\n');
    for (let opened = 0; opened < 1100; opened += 1) {
      const socket = connect(servicePort(), '127.0.0.1')
        .setEncoding('latin1')
        .on('error', () => {});
      socket.once('data', (text: string) => (statuses[opened] = text.slice(9, 12)));
      sockets.push(socket);
      await new Promise((sent) => socket.write(beginning, sent));
    }
    await until(() => statuses.filter((each) => each === '503').length >= 1100 - 1024);
    const body = { name: 'Rex', categoryId: 7 };
    expect((await send(`${store.url}/v1/pets`, { method: 'POST', key, body })).status).toBe(201);
    expect([statuses[0], statuses.at(-1)]).toEqual(['503', undefined]);
  });
});

describe('a connection without progress', () => {
  async function expectCloseInTime(serverSocket: Socket): Promise<void> {
    const start = performance.now();
    await new Promise((done) => serverSocket.once('close', done));
    const seconds = (performance.now() - start) / 1000;
    expect(seconds).toBeGreaterThan(39);
    // Node may count from when the last part was read.
    expect(seconds).toBeLessThan(85);
  }

  it.concurrent('is closed when its responses are not read', async () => {
    const [socket, serverSocket] = await open();
    socket.write(LARGE);
    await expectCloseInTime(serverSocket);
    socket.destroy();
  });

  it.concurrent('is closed, and its slot freed, when a half-closed client reads nothing', async () => {
    await store.database.query(
      'INSERT INTO pets (name, category_id) SELECT repeat(chr(1), 255), 1 FROM generate_series(1, 100)',
    );
    const [socket, serverSocket] = await open();
    const page = `GET /v1/pets?limit=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    // 12 MB: more than the buffers of both ends hold.
    socket.end(page.repeat(80));
    await expectCloseInTime(serverSocket);
    expect(slotsTaken(store, 'listPets')).toBe(0);
    socket.destroy();
  });

  it.concurrent('is kept when its responses are read slowly', async () => {
    const [socket, serverSocket] = await open();
    socket.write(LARGE);
    const fetching = setInterval(() => socket.read(512 * KIB), 5_000);
    await pause(90_000);
    clearInterval(fetching);
    expect(serverSocket.destroyed).toBe(false);
    socket.destroy();
  });

  it.concurrent('is kept for longer while it waits for the next request', async () => {
    const [socket, serverSocket] = await open();
    socket.setEncoding('latin1');
    for (const idleMs of [0, 65_000]) {
      await pause(idleMs);
      socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
      const [chunk] = await once(socket.resume(), 'data');
      expect(chunk).toContain('HTTP/1.1 200 ');
    }
    expect(serverSocket.destroyed).toBe(false);
    socket.destroy();
  });
});
