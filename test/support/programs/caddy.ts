import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from '../eventually.js';
import getPort from 'get-port';

const PROGRAM = '/usr/bin/caddy';
const COMPOSE_CONFIGURATION = path.join(__dirname, '..', '..', '..', 'deploy', 'Caddyfile');

export interface Caddy {
  url: string;
  stop(): Promise<void>;
}

/** Starts the load balancer of the Compose file in front of replicas, which have addresses instead of a name. */
export async function startCaddy(...replicaUrls: string[]): Promise<Caddy> {
  const port = await getPort({ host: '127.0.0.1' });
  const folder = await mkdtemp(path.join(tmpdir(), 'caddy-'));
  const file = path.join(folder, 'Caddyfile');
  const configuration = await readFile(COMPOSE_CONFIGURATION, 'utf8');
  await writeFile(
    file,
    configuration
      .replace(':3000 {', `:${port} {\n\tbind 127.0.0.1`)
      .replace(/dynamic a api 3000 \{[^}]*\}/, `to ${replicaUrls.map((url) => new URL(url).host).join(' ')}`),
  );
  const child = spawn(PROGRAM, ['run', '--config', file, '--adapter', 'caddyfile'], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(`${url}/livez`).catch(() => null))?.status === 200);
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}
