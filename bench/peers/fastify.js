// Fastify with @fastify/bearer-auth, @fastify/rate-limit and pg, as in their documentation.
// It counts in Redis if REDIS_URL is set, otherwise in memory.

import bearerAuth from '@fastify/bearer-auth';
import rateLimit from '@fastify/rate-limit';
import Fastify from 'fastify';
import { Redis } from 'ioredis';
import pg from 'pg';
import * as shared from './shared.js';

shared.readInt8AsNumber(pg);
const pool = new pg.Pool({ connectionString: shared.settings.databaseUrl });
const isKnown = await shared.readKeys(pool);
const { redisUrl } = shared.settings;
const redis = redisUrl && new Redis(redisUrl, { connectTimeout: 500, maxRetriesPerRequest: 1 });

const app = Fastify({ logger: true });
await app.register(bearerAuth, { auth: isKnown });
for (const timeWindow of [shared.MINUTE_MS, shared.DAY_MS]) {
  await app.register(rateLimit, {
    max: shared.LIMIT,
    timeWindow,
    keyGenerator: (request) => request.headers.authorization,
    nameSpace: `window-${timeWindow}-`,
    // Large enough that no key of the bench is evicted.
    cache: 20_000,
    ...(redis && { redis }),
  });
}

const status = { type: 'string', enum: ['available', 'pending', 'sold'] };
const newPet = {
  type: 'object',
  required: ['name', 'categoryId'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 255 },
    categoryId: { type: 'integer' },
    status,
  },
};
const pet = {
  type: 'object',
  properties: { id: { type: 'integer' }, ...newPet.properties },
};
const query = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    cursor: { type: 'integer', default: 0 },
    status,
  },
};

app.get(
  '/v1/pets',
  { schema: { querystring: query, response: { 200: { type: 'array', items: pet } } } },
  async (request) => {
    const { limit, cursor, status: wanted } = request.query;
    const { rows } = await pool.query(shared.page(limit, cursor, wanted));
    return rows.map(shared.toPet);
  },
);

app.get(
  '/v1/pets/:id',
  {
    schema: {
      params: { type: 'object', properties: { id: { type: 'integer' } } },
      response: { 200: pet },
    },
  },
  async (request, reply) => {
    const { rows } = await pool.query({ name: 'one', text: shared.ONE, values: [request.params.id] });
    return rows.length === 0 ? reply.callNotFound() : shared.toPet(rows[0]);
  },
);

app.post('/v1/pets', { schema: { body: newPet, response: { 201: pet } } }, async (request, reply) => {
  const { name, categoryId, status: given } = request.body;
  const { rows } = await pool.query({
    name: 'add',
    text: shared.ADD,
    values: [name, categoryId, given ?? null],
  });
  reply.code(201);
  return shared.toPet(rows[0]);
});

await app.listen({ port: shared.settings.port, host: shared.settings.host });
