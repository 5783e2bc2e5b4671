// express-rate-limit with rate-limit-redis and node-redis as in their READMEs, and the default headers.

import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { RedisStore } from 'rate-limit-redis';
import { createClient } from 'redis';

const { PORT, STORE_URL } = process.env;
const client = createClient({ url: STORE_URL });
client.on('error', () => {});
await client.connect();

const app = express();
app.use(
  rateLimit({
    windowMs: 60_000,
    limit: 60,
    keyGenerator: (request) => request.headers.authorization,
    store: new RedisStore({ sendCommand: (...args) => client.sendCommand(args) }),
  }),
);
app.get('/v1/pets', (_request, response) => {
  response.json([]);
});
app.listen(Number(PORT), '127.0.0.1');
