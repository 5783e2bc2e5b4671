import fastify, { type FastifyInstance } from 'fastify';
import { LifecycleHeadersInterceptor } from './lifecycle-headers.interceptor.js';

const PAGE_LINKS = '</v1/pets?cursor=x>; rel="next", </v1/pets>; rel="first"';
const DEPRECATION_LINKS =
  '</v1/animals>; rel="successor-version", </docs#/pets/listPets>; rel="deprecation"; type="text/html"';
const CONFIG = {
  stability: 'beta',
  deprecation: {
    since: new Date('2025-12-05T00:00:00Z'),
    removal: new Date('2030-12-05T00:00:00Z'),
    replacement: '/v1/animals',
    docs: '/docs#/pets/listPets',
  },
} as const;

let server: FastifyInstance;

beforeEach(() => {
  server = fastify();
  const interceptor = new LifecycleHeadersInterceptor();
  server.addHook('onSend', (request, reply, _payload, done) => {
    interceptor.intercept(request, reply);
    done();
  });
});
afterEach(() => server.close());

async function fetchPath(path: string) {
  const { statusCode, headers, body } = await server.inject(path);
  return { statusCode, headers, body };
}

const headersWith = (link: string) =>
  expect.objectContaining({
    deprecation: '@1764892800',
    sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
    'x-stability': 'beta',
    link,
  });

test('a response without links has those of the deprecation', async () => {
  server.get('/', { config: CONFIG }, () => 'all');
  expect(await fetchPath('/')).toEqual({
    statusCode: 200,
    headers: headersWith(DEPRECATION_LINKS),
    body: 'all',
  });
});

test.each<[string, string | string[]]>([
  ['one text', PAGE_LINKS],
  ['a list of texts', PAGE_LINKS.split(', ')],
])(
  'links that a handler has set as %s stay, in one header with those of the deprecation',
  async (_name, links) => {
    server.get('/', { config: CONFIG }, (_request, reply) => reply.header('Link', links).send('page'));
    expect(await fetchPath('/')).toEqual({
      statusCode: 200,
      headers: headersWith(`${PAGE_LINKS}, ${DEPRECATION_LINKS}`),
      body: 'page',
    });
  },
);

test('a 304 has the same links as a 200', async () => {
  server.get('/', { config: CONFIG }, (_request, reply) =>
    reply.header('Link', PAGE_LINKS).status(304).send(),
  );
  expect(await fetchPath('/')).toEqual({
    statusCode: 304,
    headers: headersWith(`${PAGE_LINKS}, ${DEPRECATION_LINKS}`),
    body: '',
  });
});

test('an error has deprecation headers too', async () => {
  server.get('/', { config: CONFIG }, () => {
    throw new Error('defect');
  });
  expect(await fetchPath('/')).toEqual({
    statusCode: 500,
    headers: headersWith(DEPRECATION_LINKS),
    body: expect.stringContaining('defect'),
  });
});

test('a route without a deprecation has only the links of its handler', async () => {
  server.get('/', { config: { stability: 'stable' } }, (_request, reply) =>
    reply.header('Link', PAGE_LINKS).send('page'),
  );
  const { headers } = await fetchPath('/');
  expect(headers).toMatchObject({ link: PAGE_LINKS });
  expect(Object.keys(headers)).not.toContain('deprecation');
});

test('a response of the not-found handler has no deprecation headers', async () => {
  server.get('/', { config: CONFIG }, (_request, reply) => reply.callNotFound());
  const { statusCode, headers } = await fetchPath('/');
  expect(statusCode).toBe(404);
  expect(Object.keys(headers)).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/deprecation|sunset|link|x-stability/)]),
  );
});
