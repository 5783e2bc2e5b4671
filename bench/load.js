import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import path from 'node:path';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { Pool } from 'undici';
import { ANIMALS } from './data.js';
import { interruption } from '../dev/interruption.js';

const SCRIPT = path.join(import.meta.dirname, 'wrk.lua');
const SECONDS = 1;
const LONGEST_SECONDS = 8;
const BEAT_NS = 1_000_000;

/**
 * Loads a server for a second as fast as it responds; for longer when it responds to nothing within that
 * second.
 *
 * @param {{ workload: string, connections: number, keysFile: string }} load
 * @returns requests, requests per second, and the median latency.
 * @throws Error when a response is not a success, or is missing.
 */
export async function runWrk(url, { workload, connections, keysFile }, seconds = SECONDS) {
  const options = [`--connections=${connections}`, `--duration=${seconds}s`, `--script=${SCRIPT}`];
  const args = [workload, keysFile, ANIMALS, randomInt(2 ** 31)].map(String);
  const { stdout } = await promisify(execFile)(
    'wrk',
    ['--threads=1', '--timeout=30s', ...options, url, '--', ...args],
    { signal: interruption },
  );
  const { requests, durationUs, p50Us, refused, broken } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  if (requests + refused + broken === 0 && seconds < LONGEST_SECONDS) {
    return runWrk(url, { workload, connections, keysFile }, 2 * seconds);
  }
  if (refused + broken > 0 || requests === 0) {
    throw new Error(
      `Of ${requests} requests (${workload}) ${refused} were refused and ${broken} had no response`,
    );
  }
  return { requests, perSecond: (requests / durationUs) * 1e6, p50Ms: p50Us / 1000 };
}

/**
 * Requests first pages at a fixed rate for a second, even while earlier requests have no response. A latency
 * starts when its request is due, so it includes the wait for a server that is behind.
 *
 * @param {{ perSecond: number, connections: number, keys: string[] }} load
 * @throws Error when a response is not a 200.
 */
export async function runAtFixedRate(url, { perSecond, connections, keys }) {
  const perBeat = Math.max(1, Math.round((perSecond * BEAT_NS) / 1e9));
  const beatNs = Math.round((perBeat * 1e9) / perSecond);
  const startNs = process.hrtime.bigint() + 50_000_000n;
  const pool = new Pool(url, { connections });
  const latenciesMs = [];
  const send = async (dueNs) => {
    const authorization = `Bearer ${keys[Math.floor(Math.random() * keys.length)]}`;
    const { statusCode, body } = await pool.request({
      path: '/v1/pets',
      method: 'GET',
      headers: { authorization },
    });
    await body.dump();
    if (statusCode !== 200) {
      throw new Error(`A request at a fixed rate got ${statusCode}`);
    }
    latenciesMs.push(Number(process.hrtime.bigint() - dueNs) / 1e6);
  };
  const beats = Math.round((SECONDS * 1e9) / beatNs);
  // A timer of the event loop is up to a millisecond late, which would count as latency.
  const worker = new Worker(`(${beat.toString()})()`, { eval: true, workerData: { startNs, beatNs, beats } });
  const sent = [];
  try {
    await new Promise((resolve, reject) => {
      worker.once('error', reject).once('exit', resolve);
      worker.on('message', (number) => {
        for (let index = 0; index < perBeat; index += 1) {
          sent.push(send(startNs + BigInt(number * beatNs)));
          sent.at(-1).catch(reject);
        }
      });
    });
    await Promise.all(sent);
  } finally {
    await worker.terminate();
    await pool.destroy();
  }
  latenciesMs.sort((a, b) => a - b);
  const percentile = (share) => latenciesMs[Math.ceil(latenciesMs.length * share) - 1];
  return { requests: latenciesMs.length, perSecond, p50Ms: percentile(0.5), p99Ms: percentile(0.99) };
}

/** The body of the worker: posts the number of each beat when it is due. */
function beat() {
  // oxlint-disable-next-line typescript/no-require-imports -- the text of this function runs as CommonJS
  const { parentPort, workerData } = require('node:worker_threads');
  const { startNs, beatNs, beats } = workerData;
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (let number = 0; number < beats; number += 1) {
    const waitNs = Number(startNs + BigInt(number * beatNs) - process.hrtime.bigint());
    if (waitNs > 0) {
      Atomics.wait(never, 0, 0, waitNs / 1e6);
    }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port has no origin
    parentPort.postMessage(number);
  }
}
