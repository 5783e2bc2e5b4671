import { readFile } from 'node:fs/promises';
import path from 'node:path';
import getPort from 'get-port';
import { until } from '../eventually.js';
import { findProgram, type Program, startProgram } from './programs.js';

const COMPOSE_CONFIGURATION = path.join(__dirname, '..', '..', '..', 'deploy', 'Caddyfile');

export interface LoadBalancer extends Pick<Program, 'stop'> {
  url: string;
}

/**
 * Starts the load balancer of the Compose file in front of replicas, which have addresses instead of a name.
 */
export async function startCaddy(...replicaUrls: string[]): Promise<LoadBalancer> {
  const port = await getPort({ host: '127.0.0.1' });
  const url = `http://127.0.0.1:${port}`;
  const replicas = replicaUrls.map((replica) => new URL(replica).host).join(' ');
  const Caddyfile = (await readFile(COMPOSE_CONFIGURATION, 'utf8'))
    .replace(':3000 {', `:${port} {\n\tbind 127.0.0.1`)
    .replace(/dynamic a api 3000 \{[^}]*\}/, `to ${replicas}`);
  const { stop } = await startProgram(
    ['caddy', 'run', '--config', 'Caddyfile', '--adapter', 'caddyfile'],
    { Caddyfile },
    async () => (await fetch(`${url}/livez`).catch(() => null))?.status === 200,
  );
  return { url, stop };
}

export interface Haproxy extends LoadBalancer {
  /** Waits until it sends requests to this port. */
  sends(port: number): Promise<void>;
}

export const haproxy = () => findProgram('haproxy', 'haproxy');

/**
 * Starts a load balancer that checks the readiness of these ports five times a second, and retries nothing.
 *
 * @param checkTimeoutMs how long a check may take.
 */
export async function startHaproxy(ports: readonly number[], checkTimeoutMs = 200): Promise<Haproxy> {
  const [port, statisticsPort] = [await getPort({ host: '127.0.0.1' }), await getPort({ host: '127.0.0.1' })];
  const settings = `defaults
  mode http
  timeout connect 2s
  timeout check ${checkTimeoutMs}ms
  timeout client 30s
  timeout server 30s
  timeout http-keep-alive 30s
  retries 0
frontend public
  bind 127.0.0.1:${port}
  default_backend replicas
backend replicas
  balance roundrobin
  option httpchk GET /readyz
  http-check expect status 200
  default-server check inter 200ms fall 1 rise 1
${ports.map((replica) => `  server ${replica} 127.0.0.1:${replica}\n`).join('')}
frontend statistics
  bind 127.0.0.1:${statisticsPort}
  stats enable
  stats uri /
`;
  const statistics = async () => {
    const response = await fetch(`http://127.0.0.1:${statisticsPort}/;csv`).catch(() => null);
    return (await response?.text()) ?? '';
  };
  const { stop } = await startProgram(
    [haproxy() ?? '', '-db', '-f', 'haproxy.cfg'],
    { 'haproxy.cfg': settings },
    async () => (await statistics()) !== '',
  );
  return {
    url: `http://127.0.0.1:${port}`,
    sends: (replica) =>
      until(async () => new RegExp(`^replicas,${replica},.*,UP,`, 'm').test(await statistics())),
    stop,
  };
}
