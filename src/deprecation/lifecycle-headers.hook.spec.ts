import fastify, { type FastifyContextConfig, type FastifyInstance, type RouteHandlerMethod } from 'fastify';
import { addLifecycleHeaders } from './lifecycle-headers.hook.js';

const PAGE_LINKS = '</v1/pets?cursor=x>; rel="next", </v1/pets>; rel="first"';
const DEPRECATION_LINKS =
  '</v1/animals>; rel="successor-version", </docs#/pets/listPets>; rel="deprecation"; type="text/html", ' +
  '</docs#/pets/listPets>; rel="sunset"; type="text/html"';
const ALL_LINKS = `${PAGE_LINKS}, ${DEPRECATION_LINKS}`;
const CONFIG = {
  stability: 'beta',
  deprecation: {
    since: new Date('2025-12-05T00:00:00Z'),
    removal: new Date('2030-12-05T00:00:00Z'),
    successors: ['/v1/animals'],
    docs: '/docs#/pets/listPets',
  },
} as const;

let server: FastifyInstance;

beforeEach(() => {
  server = fastify();
  server.addHook('onRoute', addLifecycleHeaders);
});
afterEach(() => server.close());

/** Returns the status and the lifecycle headers of a response. */
async function respond(config: FastifyContextConfig, handler: RouteHandlerMethod) {
  server.get('/', { config }, handler);
  const { statusCode, headers } = await server.inject('/');
  const { deprecation, sunset, link, 'x-stability': stability } = headers;
  return { statusCode, deprecation, sunset, stability, link };
}

const withLinks =
  (links: string | string[], status = 200): RouteHandlerMethod =>
  (_request, reply) =>
    reply.header('Link', links).status(status).send();

test.each<[string, number, string, RouteHandlerMethod]>([
  ['a response without links', 200, DEPRECATION_LINKS, () => 'all'],
  ['one with a link of its own', 200, ALL_LINKS, withLinks(PAGE_LINKS)],
  ['one with a list of links', 200, ALL_LINKS, withLinks(PAGE_LINKS.split(', '))],
  ['a 304', 304, ALL_LINKS, withLinks(PAGE_LINKS, 304)],
])('has deprecation headers, and all links in one header: %s', async (_name, statusCode, link, handler) => {
  const dates = { deprecation: '@1764892800', sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' };
  expect(await respond(CONFIG, handler)).toEqual({ statusCode, ...dates, stability: 'beta', link });
});
