import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { IssuedKey } from '../../src/keys/key.schemas.js';
import { ConcurrencyLimit } from '../../src/http/connections/concurrency-limit.js';
import { shareApplication } from '../support/service/application.js';
import { eventually, until } from '../support/eventually.js';
import { expectError, expectRateLimitHeaders, quotingId } from '../support/http/expectations.js';
import { hold } from '../support/database/holding.js';
import { dial, head, parseResponse, toHttpResponse } from '../support/http/raw-http.js';
import { slotsTaken } from './slots.js';
import { UNLIMITED } from '../support/keys/keys.js';

const PET = JSON.stringify({ name: 'Rex', categoryId: 7 });
const MAX_SLOTS = 2;

const store = shareApplication({
  environment: { ANONYMOUS_LIMIT: 100_000, MAX_CONCURRENT_REQUESTS_PER_OPERATION: MAX_SLOTS, TRUST_PROXY: 1 },
});
let admin: IssuedKey;
beforeAll(async () => {
  admin = await store.issue({ ...UNLIMITED, role: 'admin' });
});

const slots = () => slotsTaken(store, 'createPet');
const create = () => store.send('/v1/pets', { method: 'POST', body: PET });

/** Returns the head of a request that closes its connection. */
function headOf(line: string, key: string | null, body: string, ...headers: string[]): string {
  const authorization = key === null ? [] : [`Authorization: Bearer ${key}`];
  const type = 'Content-Type: application/json';
  return head(
    line,
    type,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    ...authorization,
    ...headers,
  );
}

function open(start: string): Socket {
  const socket = dial(store.url).setEncoding('latin1');
  socket.write(start);
  return socket;
}

/** Sends a request but for the last bytes of its body; returns what sends them and returns the response. */
async function holdOpen(line: string, key: string | null, body: string) {
  const opened = once(store.app.getHttpServer(), 'request');
  const socket = open(headOf(line, key, body) + body.slice(0, 5));
  await opened;
  return async () => {
    socket.write(body.slice(5));
    return toHttpResponse(parseResponse(await text(socket)));
  };
}

/** Takes all slots by creations, and returns what lets them end and returns their statuses. */
async function takeAllSlots(): Promise<() => Promise<number[]>> {
  const holder = await hold(store.database.url, 'LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
  const creations = Array.from({ length: MAX_SLOTS }, create);
  await eventually(async () => expect(slots()).toBe(MAX_SLOTS));
  return async () => {
    await holder.letGo();
    return (await Promise.all(creations)).map(({ status }) => status);
  };
}

describe('a request whose body is held open', () => {
  const keyCount = () => store.database.query('SELECT count(*) FROM api_keys');
  const manage = (path: string, body?: object) =>
    store.send(path, { method: body === undefined ? 'POST' : 'PATCH', key: admin.key, body });

  it('gets 401, and issues no key, once its key is revoked', async () => {
    const { id, key } = await store.issue({ ...UNLIMITED, role: 'admin' });
    const body = JSON.stringify({ name: 'minted', plan: 'business', role: 'admin' });
    const finish = await holdOpen('POST /admin/keys', key, body);
    expect((await manage(`/admin/keys/${id}/revoke`)).status).toBe(200);
    const before = await keyCount();
    expectError(await finish(), 401, 'invalid_api_key', 'The API key was revoked.');
    expect(await keyCount()).toEqual(before);
  });

  it('gets 403, and lifts no restriction, once its key is restricted', async () => {
    const { id, key } = await store.issue({ ...UNLIMITED, role: 'admin' });
    const body = JSON.stringify({ scopes: null, allowedNetworks: null });
    const finish = await holdOpen(`PATCH /admin/keys/${id}`, key, body);
    expect((await manage(`/admin/keys/${id}`, { scopes: ['admin:read'] })).status).toBe(200);
    expectError(await finish(), 403, 'insufficient_scope');
    const { json } = await store.send(`/admin/keys/${id}`, { key: admin.key });
    expect(json).toMatchObject({ scopes: ['admin:read'] });
  });

  it('gets 429, and creates nothing, once its quota is used up', async () => {
    const { key } = await store.issue({ plan: 'enterprise', perMinute: 2, perDay: 2 });
    const finish = await holdOpen('POST /v1/pets', key, PET);
    for (const remaining of ['1', '0']) {
      const { headers } = await store.send('/v1/pets', { key });
      expect(headers.get('x-ratelimit-remaining')).toBe(remaining);
    }
    const before = await store.database.query('SELECT count(*) FROM pets');
    expectError(await finish(), 429, 'rate_limit_exceeded');
    expect(await store.database.query('SELECT count(*) FROM pets')).toEqual(before);
  });

  it('is counted once it has arrived whole', async () => {
    const { key } = await store.issue({ plan: 'free' });
    const remaining = async () =>
      (await store.send('/v1/rate-limit', { key })).headers.get('x-ratelimit-remaining');
    const finish = await holdOpen('POST /v1/pets', key, PET);
    expect(await remaining()).toBe('60');
    expect((await finish()).status).toBe(201);
    expect(await remaining()).toBe('59');
  });

  it.each([
    ['with a key', () => store.key],
    ['without a key', () => null],
  ])('gets 408 %s when it does not arrive in time', async (_name, key) => {
    const server: Server = store.app.getHttpServer();
    const { requestTimeout, headersTimeout } = server;
    Object.assign(server, { requestTimeout: 100, headersTimeout: 100 });
    const socket = open(`${headOf('POST /v1/pets', key(), PET)}{`);
    expectError(toHttpResponse(parseResponse(await text(socket))), 408, 'request_timeout');
    Object.assign(server, { requestTimeout, headersTimeout });
  });

  it('is requested by 100 Continue', async () => {
    const socket = open(headOf('POST /v1/pets', store.key, PET, 'Expect: 100-continue'));
    const [interim] = (await once(socket, 'data')) as [string];
    expect(interim).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(PET);
    expect(parseResponse(await text(socket)).status).toBe(201);
  });

  it('holds no slot, and gets 429 if its client has all once its body has arrived', async () => {
    const first = await holdOpen('POST /v1/pets', store.key, PET);
    const second = await holdOpen('POST /v1/pets', store.key, PET);
    expect(slots()).toBe(0);
    const letGo = await takeAllSlots();
    expectError(await first(), 429, 'too_many_concurrent_requests');
    expect(await letGo()).toEqual([201, 201]);
    expect((await second()).status).toBe(201);
    await eventually(async () => expect(slots()).toBe(0));
  });

  it('takes no slot and creates nothing when it breaks off', async () => {
    const before = await store.database.query('SELECT count(*) FROM pets');
    const opened = once(store.app.getHttpServer(), 'request');
    const socket = open(`${headOf('POST /v1/pets', store.key, PET)}{`);
    const [request] = (await opened) as [NodeJS.EventEmitter];
    const closed = new Promise((resolve) => request.once('close', resolve));
    socket.destroy();
    await closed;
    expect(slots()).toBe(0);
    expect(await store.database.query('SELECT count(*) FROM pets')).toEqual(before);
  });

  it('gives way beyond 1,024 only if it is the oldest of the network with the most', async () => {
    const from = (address: string) => `X-Forwarded-For: ${address}`;
    const server: Server = store.app.getHttpServer();
    let arrived = 0;
    const count = () => (arrived += 1);
    server.on('request', count);
    const hoard = (address: string) => open(`${headOf('POST /v1/pets', null, PET, from(address))}{`);
    const shed = () =>
      store.app
        .get(ConcurrencyLimit)
        .all()
        .find(({ operation }) => operation === 'createPet')?.shed ?? 0;
    const shedBefore = shed();
    const victim = open(`${headOf('POST /v1/pets', store.key, PET, from('192.0.2.1'))}{`);
    await until(() => arrived === 1);
    const hoarders = Array.from({ length: 1024 }, () => hoard('198.51.100.7'));
    const response = toHttpResponse(parseResponse(await text(hoarders[0]!)));
    const message = quotingId('This server is overloaded. Try again shortly.', response);
    expectError(response, 503, 'service_unavailable', message);
    expectRateLimitHeaders(response);
    await until(() => arrived === 1025);
    expect(shed()).toBe(shedBefore + 1);
    victim.write(PET.slice(1));
    expect(parseResponse(await text(victim)).status).toBe(201);
    expect(hoarders.slice(1).every(({ readableEnded }) => !readableEnded)).toBe(true);
    hoarders.forEach((socket) => socket.destroy());
    server.off('request', count);
  });
});

describe('a request whose body has arrived', () => {
  const keepAlive = (body: string, type = 'json') =>
    headOf('POST /v1/pets', store.key, body)
      .replace('Connection: close\r\n', '')
      .replace('/json', `/${type}`);

  it.each([
    ['malformed', '{', 'json', 400],
    ['of another type', PET, 'xml', 415],
  ])('leaves the connection open when it is %s', async (_name, body, type, status) => {
    const socket = open(keepAlive(body, type) + body + headOf('POST /v1/pets', store.key, PET) + PET);
    expect((await text(socket)).match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${status}`, 'HTTP/1.1 201']);
  });

  it('leaves the connection open when it is shed', async () => {
    const letGo = await takeAllSlots();
    const socket = open(keepAlive(PET) + PET + headOf('POST /v1/pets', store.key, PET) + PET);
    expect((await text(socket)).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 429', 'HTTP/1.1 429']);
    expect(await letGo()).toEqual([201, 201]);
  });

  it.each(['json', 'application', '/', ';', 'application/json, text/plain', 'a b/c', '日本'])(
    'gets 401 without a key and 415 with one if its type is %s',
    async (type) => {
      const headers = (key: string | null) =>
        headOf('POST /v1/pets', key, PET).replace('application/json', Buffer.from(type).toString('latin1'));
      for (const [key, status] of [
        [null, 401],
        [store.key, 415],
      ] as const) {
        const response = toHttpResponse(parseResponse(await text(open(headers(key) + PET))));
        expect(response.status).toBe(status);
        expectRateLimitHeaders(response);
      }
    },
  );
});
