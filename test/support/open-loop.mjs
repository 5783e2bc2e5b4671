// Sends requests at their times, whatever comes back, as many clients together do; and tells what became of each, a line of
// JSON: [status, milliseconds from its time until its answer had arrived], with status 0 where none came.
//
//   node open-loop.mjs '{"url", "method", "headers", "body", "perSecond", "seconds", "clients"}'
//
// With `clients` it is a closed loop instead: so many send one request after the other, and their pace shows what can be served.

import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

const { url, method = 'GET', headers, body, perSecond, seconds, clients } = JSON.parse(process.argv[2] ?? '');
const agent = new Agent({ keepAlive: true });
/** Longer than any answer may take. */
const PATIENCE_MS = 20_000;

/** @returns {Promise<void>} when all of the answer has arrived. */
async function send(dueMs) {
  const status = await new Promise((resolve) => {
    const asking = request(url, { method, headers, agent, timeout: PATIENCE_MS }, (answer) => {
      text(answer).then(
        () => resolve(answer.statusCode),
        () => resolve(0),
      );
    });
    asking.on('error', () => resolve(0));
    asking.on('timeout', () => asking.destroy());
    asking.end(body);
  });
  outcomes.push([status, performance.now() - dueMs]);
}

const outcomes = [];
const startMs = performance.now();
const endMs = startMs + seconds * 1000;

async function sendOneByOne() {
  while (performance.now() < endMs) {
    await send(performance.now());
  }
}

async function sendInTime() {
  const sent = [];
  for (let nowMs = startMs; nowMs < endMs; nowMs = performance.now()) {
    for (; startMs + (sent.length * 1000) / perSecond <= nowMs;) {
      sent.push(send(startMs + (sent.length * 1000) / perSecond));
    }
    await pause(1);
  }
  await Promise.all(sent);
}

await (clients === undefined ? sendInTime() : Promise.all(Array.from({ length: clients }, sendOneByOne)));
process.stdout.write(outcomes.map((outcome) => `${JSON.stringify(outcome)}\n`).join(''));
agent.destroy();
