import { readFileSync } from 'node:fs';
import path from 'node:path';
import { encodeCursor } from '../dist/http/cursor.js';

const here = (...names) => path.join(import.meta.dirname, ...names);

/** What `npm start` gives to Node. */
const { scripts } = JSON.parse(readFileSync(here('..', 'package.json'), 'utf8'));
const started = scripts.start.split(' ').slice(1);

const service = {
  title: 'this service',
  program: [...started.slice(0, -1), here('..', started.at(-1))],
  env: { APP_ENV: 'production', HOST: '127.0.0.1' },
  cursorOf: (id) => encodeCursor(String(id)),
  logs: 'one line a request',
};

const peer = (title, program, logs) => ({
  title,
  program: [here('peers', program[0]), ...program.slice(1)],
  // A peer's cursor is the identifier itself.
  cursorOf: String,
  logs,
  peerOf: 'service',
});

const fastify = peer('Fastify + pg', ['fastify.js'], 'two lines a request');
const NOT_REQUESTS = 'no requests';

/**
 * Who is measured. `program` is what Node is given; `logs` what is written of each request (to /dev/null); `peerOf` the one
 * whose speed is compared with it. One with `counterStore` counts in Redis, which that setting names, and is measured at
 * `workloads` alone.
 */
export const CONTESTANTS = {
  service,
  bare: peer('node:http + pg', ['bare.js'], NOT_REQUESTS),
  'bare-pipelined': peer('node:http + pg, pipelined', ['bare.js', 'pipelined'], NOT_REQUESTS),
  fastify,
  express: peer('Express + pg', ['express.js'], NOT_REQUESTS),
  'nest-fastify': peer('NestJS + Fastify + Prisma', ['nest/dist/main.js'], NOT_REQUESTS),
  'nest-express': peer('NestJS + Express + Prisma', ['nest/dist/main.js', 'express'], NOT_REQUESTS),
  'service-redis': {
    ...service,
    title: 'this service, counting in Redis',
    counterStore: 'COUNTER_STORE',
    workloads: ['mix'],
  },
  'fastify-redis': {
    ...fastify,
    title: 'Fastify + pg, counting in Redis',
    counterStore: 'REDIS_URL',
    workloads: ['mix'],
    peerOf: 'service-redis',
  },
};
