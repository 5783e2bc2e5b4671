import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Redis } from 'ioredis';
import { freePort } from './free-port.js';

/** Starts a Redis that keeps nothing on disk, as one that only counts may be run. */
export async function startRedis() {
  const port = await freePort();
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no'];
  const child = spawn('redis-server', args, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  const probe = new Redis({ port, host: '127.0.0.1', retryStrategy: () => 50 });
  probe.on('error', () => {});
  try {
    await probe.ping();
  } catch (cause) {
    await stop();
    throw new Error('redis-server does not answer', { cause });
  } finally {
    probe.disconnect();
  }
  return { url: `redis://127.0.0.1:${port}`, stop };
}
