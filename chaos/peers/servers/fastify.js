// @fastify/rate-limit as in its README, in memory or in Redis with the settings of its example.

import rateLimit from '@fastify/rate-limit';
import Fastify from 'fastify';
import { Redis } from 'ioredis';

const { PORT, STORE_URL } = process.env;
const redis = STORE_URL && new Redis(STORE_URL, { connectTimeout: 500, maxRetriesPerRequest: 1 });

const fastify = Fastify();
await fastify.register(rateLimit, {
  max: 60,
  timeWindow: '1 minute',
  keyGenerator: (request) => request.headers.authorization,
  ...(redis && { redis }),
});
fastify.get('/v1/pets', async () => []);
await fastify.listen({ port: Number(PORT), host: '127.0.0.1' });
