import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { isAdministrative, isProtected } from './protected-path.js';

describe('the paths that need a key', () => {
  let fastify: FastifyInstance;

  beforeAll(() => {
    const judge = (request: FastifyRequest) => ({
      isProtected: isProtected(request),
      isAdministrative: isAdministrative(request),
    });
    fastify = Fastify({
      frameworkErrors: (_error, request, reply) => {
        void reply
          .serializer(JSON.stringify)
          .type('application/json')
          .send(judge(request) as never);
      },
    });
    fastify.get('/v1/pets/:petId', judge);
    fastify.get('/livez', judge);
    fastify.setNotFoundHandler(judge);
  });
  afterAll(() => fastify.close());

  async function judgementOf(url: string): Promise<unknown> {
    return (await fastify.inject(url)).json();
  }

  it.each([
    '/v1',
    '/v1/',
    '/v1?limit=1',
    '/v1/pets',
    '/v1/pets/7',
    '/v1/pets/7?status=sold',
    '/v1/nothing/at/all',
    '/%76%31/pets',
    '/%761/pets/7',
    '/v1/%zz',
    '/v1/pets/%zz',
    `/v1/pets/${'7'.repeat(200)}`,
  ])('are, in the public interface, %s', async (url) => {
    expect(await judgementOf(url)).toEqual({ isProtected: true, isAdministrative: false });
  });

  it.each(['/admin', '/admin/', '/admin/keys', '/admin?x', '/%61dmin/keys', '/admin/%zz'])(
    'are, in the administration, %s',
    async (url) => {
      expect(await judgementOf(url)).toEqual({ isProtected: true, isAdministrative: true });
    },
  );

  it.each([
    '/',
    '/livez',
    '/livez?path=/v1/pets',
    '/docs',
    '/v10',
    '/v1x/pets',
    '/v2/pets',
    '/administration',
    '/docs/v1/pets',
    '/docs/admin',
    '/%zz',
  ])('are not %s', async (url) => {
    expect(await judgementOf(url)).toEqual({ isProtected: false, isAdministrative: false });
  });
});
