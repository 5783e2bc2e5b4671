import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, METHODS, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { shareApplication } from '../support/service/application.js';
import { ApiDocument } from '../support/http/document.js';
import { expectError } from '../support/http/expectations.js';
import { UNLIMITED } from '../support/keys/keys.js';

const store = shareApplication({ environment: { ANONYMOUS_LIMIT: 100_000 } });
let adminKey: string;
beforeAll(async () => {
  ({ key: adminKey } = await store.issue({ ...UNLIMITED, role: 'admin' }));
});

describe('a request without a route', () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  afterAll(() => agent.destroy());

  /** Sends a target unchanged, unlike other clients. */
  async function sendTarget(method: string, target: string, as?: string) {
    const { hostname, port } = new URL(store.url);
    const headers = as === undefined ? {} : { Authorization: `Bearer ${as}` };
    const sent = request({ agent, hostname, port, method, path: target, headers }).end();
    const [response] = (await once(sent, 'response')) as [
      { statusCode: number; headers: IncomingHttpHeaders } & NodeJS.ReadableStream,
    ];
    await text(response);
    return { status: response.statusCode, headers: response.headers };
  }

  const remaining = ({ headers }: { headers: IncomingHttpHeaders }) =>
    Number(headers['x-ratelimit-remaining']);
  /** Node does not pass CONNECT to a request handler. */
  const methods = METHODS.filter((method) => method !== 'CONNECT');

  const ROUTED = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

  const unknown = [
    ['unknown', '/v1/dogs'],
    ['unknown, under /admin', '/admin/dogs'],
    ['the root of the interface', '/v1'],
    ['the root of administration', '/admin/'],
    ['undecodable', '/v1/%zz'],
    ['half an UTF-8 sequence', '/v1/%c3%28?a=%zz'],
    ['overlong', `/v1/${'x'.repeat(8000)}`],
    ['encoded', '/%761/dogs'],
    ['encoded, under /admin', '/%61dmin/keys/x/y'],
    ['an empty segment', '/v1//pets'],
    ['dots, which are no way out of it', '/v1/../livez'],
    ['an empty parameter', '/v1/pets/'],
    ['an empty parameter before a word', '/admin/keys//ban'],
    ['slashes only, as long as headers may be', `/v1${'/'.repeat(15_000)}`],
    ['below an animal', '/v1/pets/1/name'],
    ['other letter case', '/v1/Pets'],
    ['in absolute form', 'http://elsewhere.example/v1/dogs'],
  ] as const;

  /** Returns those of routes, each of which has its own tree of paths, and every fourth of the others. */
  const methodsOf = (turn: number) => [
    ...ROUTED,
    ...methods.filter((method) => !ROUTED.includes(method)).filter((_method, index) => index % 4 === turn),
  ];

  it.each(unknown.map(([name, target], index) => [name, target, methodsOf(index % 4)] as const))(
    'returns 401 without a key and 404 with one, by methods with and without routes, and counts both: %s',
    async (_name, target, tried) => {
      const clientKey = target.includes('dmin') ? adminKey : store.key;
      let [anonymous, client] = [await sendTarget('GET', target), await sendTarget('GET', target, clientKey)];
      for (const method of tried) {
        const [denied, missing] = [
          await sendTarget(method, target),
          await sendTarget(method, target, clientKey),
        ];
        expect([method, denied.status, missing.status]).toEqual([method, 401, 404]);
        expect([method, remaining(denied)]).toEqual([method, remaining(anonymous) - 1]);
        expect([method, remaining(missing)]).toEqual([method, remaining(client) - 1]);
        [anonymous, client] = [denied, missing];
      }
    },
  );

  it.each([
    ['/v1/pets', ['GET', 'HEAD', 'POST']],
    ['/%761/pets/%zz', ['GET', 'HEAD']],
    [`/v1/pets/${'9'.repeat(101)}`, ['GET', 'HEAD']],
    ['http://elsewhere.example/v1/pets/7', ['GET', 'HEAD']],
    ['/admin/keys', ['GET', 'HEAD', 'POST']],
  ])('returns 405 with Allow if the path has other methods: %s', async (target, allowed) => {
    let last = await sendTarget('GET', target, adminKey);
    for (const method of methods.filter((each) => !allowed.includes(each))) {
      expect((await sendTarget(method, target)).status).toBe(401);
      const response = await sendTarget(method, target, adminKey);
      expect([method, response.status, response.headers.allow]).toEqual([method, 405, allowed.join(', ')]);
      expect(remaining(response)).toBe(remaining(last) - 1);
      last = response;
    }
  });

  it.each([
    '//v1/pets',
    '/docs/../admin/keys',
    '/docs/v1/pets',
    '/v1%2fpets',
    '/v1x',
    '/V1/pets',
    '/administration',
    '/%zz',
    '*',
  ])('returns 404 without rate-limit headers outside of the interface: %s', async (target) => {
    for (const method of methods) {
      const { status, headers } = await sendTarget(method, target, store.key);
      expect([method, status]).toEqual([method, 404]);
      expect(headers['x-ratelimit-limit']).toBeUndefined();
    }
  });
});

describe('every operation of administration', () => {
  const operations = new ApiDocument().operations
    .filter((operation) => operation.path.startsWith('/admin'))
    .map((operation): [string, string] => [operation.method, operation.path.replace(/\{\w+\}/g, 'x')]);

  it.each(operations)('returns 403 for a client key: %s %s', async (method, target) => {
    expect(operations.length).toBeGreaterThan(9);
    expectError(await store.send(target, { method }), 403, 'forbidden');
  });
});
