// Express with passport-http-bearer, express-rate-limit and pg, as their documentation has them.

import express from 'express';
import { rateLimit } from 'express-rate-limit';
import passport from 'passport';
import { Strategy as BearerStrategy } from 'passport-http-bearer';
import pg from 'pg';
import * as shared from './shared.js';

const STATUSES = new Set(['available', 'pending', 'sold']);

shared.readInt8AsNumber(pg);
const pool = new pg.Pool({ connectionString: shared.settings.databaseUrl });
const isKnown = await shared.readKeys(pool);

passport.use(new BearerStrategy((key, done) => done(null, isKnown(key) && { key })));

const limitOf = (windowMs) =>
  rateLimit({ windowMs, limit: shared.LIMIT, keyGenerator: (request) => request.user.key });

const app = express();
app.use(passport.authenticate('bearer', { session: false }));
// The last one's headers stay, those of the minute.
app.use(limitOf(shared.DAY_MS), limitOf(shared.MINUTE_MS));
app.use(express.json());

app.get('/v1/pets', async (request, response) => {
  const { cursor = 0, status } = request.query;
  const limit = Number(request.query.limit ?? 20);
  const isValid =
    Number.isInteger(limit) &&
    limit >= 1 &&
    limit <= 100 &&
    Number.isSafeInteger(Number(cursor)) &&
    (status === undefined || STATUSES.has(status));
  if (!isValid) {
    response.status(400).json({ message: 'Invalid query' });
    return;
  }
  const { rows } = await pool.query(shared.page(limit, cursor, status));
  response.json(rows.map(shared.petOf));
});

app.get('/v1/pets/:id', async (request, response) => {
  const id = Number(request.params.id);
  const { rows } = Number.isSafeInteger(id)
    ? await pool.query({ name: 'one', text: shared.ONE, values: [id] })
    : { rows: [] };
  if (rows.length === 0) {
    response.status(404).json({ message: 'Not found' });
  } else {
    response.json(shared.petOf(rows[0]));
  }
});

app.post('/v1/pets', async (request, response) => {
  const { name, categoryId, status } = request.body ?? {};
  const isValid =
    typeof name === 'string' &&
    name.length >= 1 &&
    name.length <= 255 &&
    Number.isSafeInteger(categoryId) &&
    (status === undefined || STATUSES.has(status));
  if (!isValid) {
    response.status(400).json({ message: 'Invalid body' });
    return;
  }
  const { rows } = await pool.query({
    name: 'add',
    text: shared.ADD,
    values: [name, categoryId, status ?? null],
  });
  response.status(201).json(shared.petOf(rows[0]));
});

app.listen(shared.settings.port, shared.settings.host);
