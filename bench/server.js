import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import getPort from 'get-port';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { interruption } from '../dev/interruption.js';
import { SERVER_CORE } from './machine.js';

const PATIENCE_MS = 30_000;
const RETRY_MS = 2;
const STDERR_LENGTH = 4000;
/** The environment that the Dockerfile sets, for every contestant. */
const IMAGE_ENV = { NODE_ENV: 'production', MALLOC_ARENA_MAX: '1' };

/**
 * Starts a contestant as a process on its core, and waits for its first successful response.
 *
 * @param {string} node the Node that runs it.
 * @param {{ title: string, program: string[], env?: Record<string, string>, hasMetrics?: boolean }}
 *   contestant
 * @param {string} key a valid API key.
 * @param {Record<string, string>} env URLs of what it uses.
 * @throws Error with what it wrote to standard error when it does not respond.
 */
export async function startServer(node, { title, program, env: own, hasMetrics = false }, key, env) {
  const [port, metricsPort] = [await getPort({ host: '127.0.0.1' }), await getPort({ host: '127.0.0.1' })];
  const startedAt = performance.now();
  const child = spawn('taskset', ['--cpu-list', SERVER_CORE, node, ...program], {
    // A folder without .env.
    cwd: tmpdir(),
    env: {
      PATH: process.env.PATH,
      ...IMAGE_ENV,
      PORT: String(port),
      ...(hasMetrics && { METRICS_PORT: String(metricsPort) }),
      ...own,
      ...env,
    },
    // Logs go to /dev/null: the disk belongs to PostgreSQL here.
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr = (stderr + text).slice(-STDERR_LENGTH)));
  const ended = once(child, 'exit');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const stop = async () => {
    if (!hasEnded()) {
      child.kill('SIGKILL');
      await ended;
    }
  };
  const url = `http://127.0.0.1:${port}`;
  while (!(await responds(`${url}/v1/pets?limit=1`, key))) {
    if (hasEnded() || interruption.aborted || performance.now() - startedAt > PATIENCE_MS) {
      await stop();
      interruption.throwIfAborted();
      throw new Error(`${title} does not respond:\n${stderr}`);
    }
    await sleep(RETRY_MS);
  }
  return {
    pid: child.pid,
    url,
    metricsUrl: hasMetrics ? `http://127.0.0.1:${metricsPort}/metrics` : undefined,
    startMs: performance.now() - startedAt,
    stop,
    stderr: () => stderr,
  };
}

function responds(url, key) {
  return new Promise((resolve) => {
    get(url, { headers: { authorization: `Bearer ${key}` }, agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode === 200));
    }).once('error', () => resolve(false));
  });
}
