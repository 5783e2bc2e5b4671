import { Worker } from 'node:worker_threads';
import { Pool } from 'undici';
import { interruption } from './interruption.js';

/** Requests are sent on the beat: one at a time, or at a high rate a few. */
const SHORTEST_BEAT_NS = 1_000_000;
const CONNECTIONS = 64;

/**
 * Sends requests for the first page at a fixed rate, whether those before were answered or not, and measures from the
 * instant at which each was to be sent: who waits because the server is behind is counted as waiting.
 *
 * @returns {Promise<{ p50Ms: number, p99Ms: number }>}
 */
export async function runAtFixedRate(url, { perSecond, seconds, keys }) {
  interruption.throwIfAborted();
  const eachBeat = Math.max(1, Math.round((perSecond * SHORTEST_BEAT_NS) / 1e9));
  const beatNs = BigInt(Math.round((eachBeat * 1e9) / perSecond));
  const beats = Math.round((perSecond * seconds) / eachBeat);
  const startNs = process.hrtime.bigint() + 200_000_000n;
  const pool = new Pool(url, { connections: CONNECTIONS });
  const latenciesMs = [];
  const send = async (dueNs) => {
    const key = keys[Math.floor(Math.random() * keys.length)];
    const { statusCode, body } = await pool.request({
      method: 'GET',
      path: '/v1/pets',
      headers: { authorization: `Bearer ${key}` },
    });
    await body.dump();
    if (statusCode !== 200) {
      throw new Error(`At a fixed rate a request was answered ${statusCode}`);
    }
    latenciesMs.push(Number(process.hrtime.bigint() - dueNs) / 1e6);
  };
  const over = new AbortController();
  const sent = [];
  const metronome = new Worker(new URL('./metronome.js', import.meta.url), {
    workerData: { startNs, beatNs, beats },
  });
  try {
    await new Promise((resolve, reject) => {
      metronome.on('message', (beat) => {
        const dueNs = startNs + BigInt(beat) * beatNs;
        for (let number = 0; number < eachBeat; number += 1) {
          const answer = send(dueNs);
          answer.catch(reject);
          sent.push(answer);
        }
      });
      metronome.once('error', reject).once('exit', resolve);
      interruption.addEventListener('abort', () => reject(interruption.reason), { signal: over.signal });
    });
    await Promise.all(sent);
  } finally {
    over.abort();
    await metronome.terminate();
    await pool.destroy();
  }
  latenciesMs.sort((a, b) => a - b);
  const percentile = (share) => latenciesMs[Math.ceil(latenciesMs.length * share) - 1];
  return { p50Ms: percentile(0.5), p99Ms: percentile(0.99) };
}
