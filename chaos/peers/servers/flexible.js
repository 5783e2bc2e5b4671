// rate-limiter-flexible in Redis or PostgreSQL, by the address of the store, as in its wiki.

import { Redis } from 'ioredis';
import pg from 'pg';
import { RateLimiterPostgres, RateLimiterRedis } from 'rate-limiter-flexible';
import { OPTIONS, serve } from './flexible-server.js';

const { STORE_URL } = process.env;

if (STORE_URL.startsWith('redis:')) {
  const storeClient = new Redis(STORE_URL, { enableOfflineQueue: false });
  storeClient.on('error', () => {});
  serve(new RateLimiterRedis({ ...OPTIONS, storeClient }));
} else {
  const storeClient = new pg.Pool({ connectionString: STORE_URL });
  // Otherwise the end of an idle connection would end the process (node-postgres, "pg.Pool", events).
  storeClient.on('error', () => {});
  const limiter = new RateLimiterPostgres({ ...OPTIONS, storeClient }, (error) => {
    if (error) {
      throw error;
    }
    serve(limiter);
  });
}
