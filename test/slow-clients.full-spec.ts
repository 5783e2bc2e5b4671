import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { MetricsServer } from '../src/metrics/metrics.server.js';
import { startApplication, type TestApplication } from './support/application.js';

const DRIBBLE_INTERVAL_MS = 1000;
/** More than the buffers of both ends hold. */
const LARGE = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20);
const KIB = 1024;

let store: TestApplication;

beforeAll(async () => {
  store = await startApplication({ environment: { METRICS_PORT: 0 } });
});
afterAll(() => store.close());

const servicePort = () => Number(new URL(store.url).port);
const metricsPort = () => store.app.get(MetricsServer).port ?? 0;

interface Outcome {
  statuses: string[];
  /** The last answer. */
  body: string;
  seconds: number;
}

/** Sends the beginning, and then a byte each second, until the server ends it. */
async function dribble(port: number, beginning: string): Promise<Outcome> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  const start = performance.now();
  let received = '';
  socket.on('data', (text: string) => (received += text));
  // The server may have closed while a byte is on its way.
  socket.on('error', () => {});
  socket.write(beginning);
  const dribbling = setInterval(() => socket.write('1'), DRIBBLE_INTERVAL_MS);
  await new Promise((done) => socket.once('close', done));
  clearInterval(dribbling);
  return {
    statuses: [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => String(status)),
    body: received.split('\r\n\r\n').at(-1) ?? '',
    seconds: (performance.now() - start) / 1000,
  };
}

/** A client's end of a connection, and the server's. */
async function open(): Promise<[Socket, Socket]> {
  const opened = new Promise<Socket>((resolve) => {
    store.app.getHttpServer().on('connection', function is(theirs: Socket) {
      if (theirs.remotePort === socket.localPort) {
        store.app.getHttpServer().off('connection', is);
        resolve(theirs);
      }
    });
  });
  const socket = connect(servicePort(), '127.0.0.1').pause();
  return [socket, await opened];
}

const headers = (request: string) => `${request} HTTP/1.1\r\nHost: x\r\nX-A: `;
const body = (request: string) => `${request} HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\n\r\n`;

describe('a request that dribbles in', () => {
  it.concurrent.each([
    ['the service', servicePort],
    ['the metrics', metricsPort],
  ])('has twenty seconds for its headers, then it is 408: %s', async (_name, port) => {
    const outcome = await dribble(port(), headers('GET /livez'));
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
    'has thirty seconds for a body that is answered before it arrives, and no second answer: %s',
    async (request, status, port) => {
      const outcome = await dribble(port(), body(request));
      expect(outcome.statuses).toEqual([status]);
      expect(outcome.seconds).toBeGreaterThan(29);
      expect(outcome.seconds).toBeLessThan(37);
    },
  );
});

describe('a connection on which nothing moves', () => {
  it.concurrent('is ended where answers are not fetched', async () => {
    const [socket, theirs] = await open();
    const start = performance.now();
    socket.write(LARGE);
    await new Promise((done) => theirs.once('close', done));
    const seconds = (performance.now() - start) / 1000;
    expect(seconds).toBeGreaterThan(39);
    // Node may count from when the last part was fetched.
    expect(seconds).toBeLessThan(85);
    socket.destroy();
  });

  it.concurrent('is kept where they are fetched slowly', async () => {
    const [socket, theirs] = await open();
    socket.write(LARGE);
    const fetching = setInterval(() => socket.read(512 * KIB), 5_000);
    await pause(90_000);
    clearInterval(fetching);
    expect(theirs.destroyed).toBe(false);
    socket.destroy();
  });

  it.concurrent('is kept for longer where it waits for its next request', async () => {
    const [socket, theirs] = await open();
    socket.setEncoding('latin1');
    for (const idleMs of [0, 65_000]) {
      await pause(idleMs);
      socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
      const [answer] = await once(socket.resume(), 'data');
      expect(answer).toContain('HTTP/1.1 200 ');
    }
    expect(theirs.destroyed).toBe(false);
    socket.destroy();
  });
});
