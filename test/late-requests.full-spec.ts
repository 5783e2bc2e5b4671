import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { startApplication, type TestApplication } from './support/application.js';
import { eventually } from './support/eventually.js';
import { hold } from './support/holding.js';
import { expectLocksWaitedFor } from './support/locks.js';

let store: TestApplication;

beforeAll(async () => {
  store = await startApplication();
});
afterAll(() => store.close());

it('a body that is late behind other requests has thirty seconds more, and no longer', async () => {
  const server: Server = store.app.getHttpServer();
  // Node finds nobody late by itself.
  server.requestTimeout = 0;
  const { key } = await store.issue();
  const holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
  const connected = once(server, 'connection') as Promise<[Socket]>;
  const socket = connect(Number(new URL(store.url).port), '127.0.0.1');
  const answers = text(socket);
  const get = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  socket.write(`${get}${get}POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1`);
  const [theirs] = await connected;
  await eventually(() => expectLocksWaitedFor(store.database, 1));
  // As Node does where the others took so long.
  const late = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  const toldMs = performance.now();
  server.emit('clientError', late, theirs);
  await holder.letGo();
  const statuses = (await answers).match(/HTTP\/1\.1 \d+/g);
  expect(statuses).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 404']);
  const seconds = (performance.now() - toldMs) / 1000;
  expect(seconds).toBeGreaterThan(29);
  // Sooner than a connection on which nothing moves is ended.
  expect(seconds).toBeLessThan(35);
});
