import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.js';
import { interruption } from './interruption.js';
import { onCores, SERVER_CORES } from './machine.js';

const PATIENCE_MS = 30_000;
const RETRY_MS = 2;
const COMPLAINT_LENGTH = 4000;

/**
 * Starts a contestant as a process, and waits for its first answer.
 *
 * @param {{ title: string, program: string[], env?: Record<string, string> }} contestant
 * @param {string} key that it lets in.
 * @param {Record<string, string>} env addresses of what it needs.
 * @param {string} cores that it runs on.
 */
export async function startServer({ title, program, env: own }, key, env, cores = SERVER_CORES) {
  const port = await freePort();
  const [command, args] = onCores(cores, process.execPath, program);
  const startedAt = performance.now();
  const child = spawn(command, args, {
    // Where no .env lies; and of our own environment nothing that a contestant might read.
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, NODE_ENV: 'production', PORT: String(port), ...own, ...env },
    // Of standard output an operator would make a file; the disk belongs to PostgreSQL here.
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaints = '';
  child.stderr
    .setEncoding('utf8')
    .on('data', (text) => (complaints = (complaints + text).slice(-COMPLAINT_LENGTH)));
  const ended = once(child, 'exit');
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  const stop = async () => {
    if (!isOver()) {
      child.kill('SIGKILL');
      await ended;
    }
  };
  const url = `http://127.0.0.1:${port}`;
  while (!(await answers(`${url}/v1/pets?limit=1`, key))) {
    if (isOver() || interruption.aborted || performance.now() - startedAt > PATIENCE_MS) {
      await stop();
      interruption.throwIfAborted();
      throw new Error(`${title} does not answer:\n${complaints}`);
    }
    await sleep(RETRY_MS);
  }
  return { pid: child.pid, url, startMs: performance.now() - startedAt, stop, complaints: () => complaints };
}

function answers(url, key) {
  return new Promise((resolve) => {
    get(url, { headers: { authorization: `Bearer ${key}` }, agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode === 200));
    }).once('error', () => resolve(false));
  });
}
