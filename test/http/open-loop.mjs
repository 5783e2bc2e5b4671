// Sends requests at fixed times, whatever the responses are, as many independent clients do. Writes a line of
// JSON for each: [status, milliseconds from its time to the end of its response], with status 0 without a
// response.
//
//   node open-loop.mjs '{"url", "method", "headers", "body", "perSecond", "seconds", "clients"}'
//
// With `clients` it is a closed loop: so many clients send one request after another, and their rate is what
// can be served.

import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

const { url, method = 'GET', headers, body, perSecond, seconds, clients } = JSON.parse(process.argv[2] ?? '');
const agent = new Agent({ keepAlive: true });
/** Longer than any response may take. */
const PATIENCE_MS = 20_000;

/** @returns {Promise<void>} once the whole response has arrived. */
async function send(dueMs) {
  const status = await new Promise((resolve) => {
    const outgoing = request(url, { method, headers, agent, timeout: PATIENCE_MS }, (response) => {
      text(response).then(
        () => resolve(response.statusCode),
        () => resolve(0),
      );
    });
    outgoing.on('error', () => resolve(0));
    outgoing.on('timeout', () => outgoing.destroy());
    outgoing.end(body);
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
