import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Connections } from '../../src/http/connections/connections.js';
import { until } from '../support/eventually.js';

const MIB = 1024 * 1024;
const LARGE = Buffer.alloc(16 * MIB);
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const log = { info: () => {}, error: () => {} };

let connections: Connections;
let server: Server;

/** Starts a server with smaller bounds. */
async function start(handle: RequestListener, keepAliveMs = 60_000): Promise<void> {
  const limits = { connections: 3, unreadBytes: 40 * MIB, inFlightPerConnection: 32 };
  connections = new Connections({ KEEP_ALIVE_TIMEOUT: keepAliveMs, SHUTDOWN_GRACE: 10_000 }, log, limits);
  server = connections.createServer(handle);
  server.on('clientError', (error, socket) => connections.refuseUnparsable(error, socket as Socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
}
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function dial(): Socket {
  return connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
}

const closed = (socket: Socket) => new Promise((resolve) => socket.resume().once('close', resolve));

describe('a connection', () => {
  it('is closed when its unread response is the oldest beyond the bound, even as others wait', async () => {
    await start((_request, response) => response.end(LARGE));
    const [oldest, newest] = [dial().pause(), dial().pause()];
    oldest.write(GET);
    await once(oldest, 'readable');
    newest.write(GET.repeat(2));
    await until(() => connections.closedByBound.unread_bytes === 1);
    await closed(oldest);
    expect(newest.destroyed).toBe(false);
    newest.destroy();
  });

  it('is closed for a new one when it is idle and there are too many', async () => {
    await start((_request, response) => response.end());
    const [idle, ...others] = [dial(), dial(), dial()];
    for (const socket of [idle, ...others]) {
      socket?.write(GET);
      await once(socket ?? server, 'data');
    }
    const newest = dial();
    const isClosed = closed(idle ?? newest);
    newest.write(GET);
    await once(newest, 'data');
    await isClosed;
    expect(others.map(({ destroyed }) => destroyed)).toEqual([false, false]);
    [newest, ...others].forEach((socket) => socket.destroy());
  });

  it('is closed when its client reads nothing for a time', async () => {
    await start((_request, response) => response.end(LARGE));
    server.setTimeout(300);
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const socket = dial().pause();
    socket.write(GET);
    const [theirs] = await accepted;
    await new Promise((resolve) => theirs.once('close', resolve));
    expect(theirs.destroyed).toBe(true);
    socket.destroy();
  });

  it('stays open for KEEP_ALIVE_TIMEOUT after a response, and then closes', async () => {
    await start((_request, response) => response.end('x'), 1500);
    // Another limit of the server must not end it first.
    server.setTimeout(300);
    const socket = dial();
    socket.write(GET);
    await once(socket, 'data');
    const idleMs = performance.now();
    await closed(socket);
    expect(performance.now() - idleMs).toBeGreaterThanOrEqual(1400);
  });

  it('that has sent nothing stays open without a response, as one between two requests', async () => {
    await start((_request, response) => response.end('x'));
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const socket = dial();
    const [theirs] = await accepted;
    server.emit(
      'clientError',
      Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
      theirs,
    );
    expect(theirs.timeout).toBe(60_000);
    socket.write(GET);
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200/);
    socket.destroy();
  });

  it('gets all responses after its client half-closes it', async () => {
    await start((_request, response) => void setTimeout(() => response.end('x'), 50));
    expect((await text(dial().end(GET.repeat(2)))).match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  });

  it('gets the error of its parser after the responses to the requests before', async () => {
    await start((_request, response) => void setTimeout(() => response.end('x'), 50));
    const socket = dial();
    socket.write(`${GET}nonsense\r\n\r\n`);
    expect((await text(socket)).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });
});
