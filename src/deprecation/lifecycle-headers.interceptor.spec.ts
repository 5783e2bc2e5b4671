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

async function ask(path: string) {
  const { statusCode, headers, body } = await server.inject(path);
  return { statusCode, headers, body };
}

const told = (link: string) =>
  expect.objectContaining({
    deprecation: '@1764892800',
    sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
    'x-stability': 'beta',
    link,
  });

test('an answer without links of its own has those of the deprecation', async () => {
  server.get('/', { config: CONFIG }, () => 'all');
  expect(await ask('/')).toEqual({ statusCode: 200, headers: told(DEPRECATION_LINKS), body: 'all' });
});

test.each<[string, string | string[]]>([
  ['one text', PAGE_LINKS],
  ['a list of texts', PAGE_LINKS.split(', ')],
])('links that a handler has set as %s stay, and all are one header', async (_name, links) => {
  server.get('/', { config: CONFIG }, (_request, reply) => reply.header('Link', links).send('page'));
  expect(await ask('/')).toEqual({
    statusCode: 200,
    headers: told(`${PAGE_LINKS}, ${DEPRECATION_LINKS}`),
    body: 'page',
  });
});

test('304 has the links that 200 would have', async () => {
  server.get('/', { config: CONFIG }, (_request, reply) =>
    reply.header('Link', PAGE_LINKS).status(304).send(),
  );
  expect(await ask('/')).toEqual({
    statusCode: 304,
    headers: told(`${PAGE_LINKS}, ${DEPRECATION_LINKS}`),
    body: '',
  });
});

test('an error tells of the deprecation too', async () => {
  server.get('/', { config: CONFIG }, () => {
    throw new Error('defect');
  });
  expect(await ask('/')).toEqual({
    statusCode: 500,
    headers: told(DEPRECATION_LINKS),
    body: expect.stringContaining('defect'),
  });
});

test('a route that stays as it is has the links of its handler alone', async () => {
  server.get('/', { config: { stability: 'stable' } }, (_request, reply) =>
    reply.header('Link', PAGE_LINKS).send('page'),
  );
  const { headers } = await ask('/');
  expect(headers).toMatchObject({ link: PAGE_LINKS });
  expect(Object.keys(headers)).not.toContain('deprecation');
});

test('what a handler hands on, as there is nothing at this path, is not told of', async () => {
  server.get('/', { config: CONFIG }, (_request, reply) => reply.callNotFound());
  const { statusCode, headers } = await ask('/');
  expect(statusCode).toBe(404);
  expect(Object.keys(headers)).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/deprecation|sunset|link|x-stability/)]),
  );
});
