import path from 'node:path';
import { encodeCursor } from '../dist/http/cursor.js';

const here = (...names) => path.join(import.meta.dirname, ...names);

/** A peer's cursor is the identifier itself. */
const plainCursor = (id) => String(id);

/**
 * Who is measured. `program` is what Node is given; `logs` what is written for each request (to /dev/null); `redis` says
 * that it counts there.
 */
export const CONTESTANTS = {
  service: {
    title: 'this service',
    program: ['--enable-source-maps', here('..', 'dist', 'main.js')],
    env: { APP_ENV: 'production', HOST: '127.0.0.1' },
    cursorOf: (id) => encodeCursor(String(id)),
    logs: 'one line',
  },
  bare: {
    title: 'node:http + pg',
    program: [here('peers', 'bare.js')],
    cursorOf: plainCursor,
    logs: 'nothing',
  },
  'bare-pipelined': {
    title: 'node:http + pg, pipelined',
    program: [here('peers', 'bare.js'), 'pipeline'],
    cursorOf: plainCursor,
    logs: 'nothing',
  },
  fastify: {
    title: 'Fastify + pg',
    program: [here('peers', 'fastify.js')],
    cursorOf: plainCursor,
    logs: 'two lines',
  },
};
