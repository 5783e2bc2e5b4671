import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readCommit } from '../../dev/publishing.js';
import { locateProgram } from '../../test/support/programs/programs.js';
import { JITI, ROOT } from '../processes.js';
import type { Rule } from './judge.js';

export type PeerStore = 'redis' | 'postgres';

/** A limiter, set to 60 requests a minute for each key. README.md has the reasons. */
export interface Peer {
  title: string;
  /** Returns its version, and that of the package which connects it to the store. */
  version: () => string;
  rule: Rule;
  /** What it counts in; null: each instance in its own memory. */
  store: PeerStore | null;
  /** Left out for this service. */
  launch?: (settings: LaunchSettings) => Launch;
}

/** What one of its instances needs to start. */
export interface LaunchSettings {
  port: number;
  /** Which of the two instances it is. */
  index: 0 | 1;
  /** Two further ports, the same for both instances. */
  peerPorts: [number, number];
  /** Of the store, if it counts in one. */
  url: string;
}

/** A command, and the files that it reads in its folder. */
export interface Launch {
  command: string[];
  files?: Record<string, string>;
}

const TITLES = { memory: 'memory', redis: 'Redis', postgres: 'PostgreSQL' };
export const LIMIT = 60;
const BURST = 5;
const FIRST: Rule = { kind: 'first', limit: LIMIT };
const SLIDING: Rule = { kind: 'sliding', limit: LIMIT };

export const PEERS = {
  'throttler-memory': node('@nestjs/throttler', null, 'nest.js', SLIDING),
  'throttler-redis': node(
    '@nestjs/throttler',
    'redis',
    'nest.js',
    FIRST,
    '@nest-lab/throttler-storage-redis',
  ),
  'fastify-memory': node('@fastify/rate-limit', null, 'fastify.js', FIRST),
  'fastify-redis': node('@fastify/rate-limit', 'redis', 'fastify.js', FIRST),
  'express-redis': node('express-rate-limit', 'redis', 'express.js', FIRST, 'rate-limit-redis'),
  'flexible-redis': node('rate-limiter-flexible', 'redis', 'flexible.js', FIRST),
  'flexible-postgres': node('rate-limiter-flexible', 'postgres', 'flexible.js', FIRST),
  'flexible-prisma': node('rate-limiter-flexible', 'postgres', 'flexible-prisma.js', FIRST, '@prisma/client'),
  nginx: {
    title: 'nginx `limit_req`',
    version: () => versionOf('nginx', '-v'),
    rule: { kind: 'leaky', limit: LIMIT, burst: BURST },
    store: null,
    launch: ({ port }) => ({
      command: [locateProgram('nginx') ?? 'nginx', '-p', '.', '-c', 'nginx.conf', '-e', 'stderr'],
      files: { 'nginx.conf': nginxConfiguration(port) },
    }),
  },
  haproxy: {
    title: 'HAProxy stick table',
    version: () => versionOf('haproxy', '-v'),
    rule: { kind: 'average', limit: LIMIT },
    store: null,
    launch: ({ port, index, peerPorts }) => ({
      command: [locateProgram('haproxy') ?? 'haproxy', '-db', '-L', `lb${index}`, '-f', 'haproxy.cfg'],
      files: { 'haproxy.cfg': haproxyConfiguration(port, peerPorts) },
    }),
  },
  service: service('PostgreSQL', 'postgres'),
  'service-redis': service('Redis', 'redis'),
} satisfies Record<string, Peer>;
export type PeerName = keyof typeof PEERS;

function service(storeTitle: string, store: PeerStore): Peer {
  return {
    title: `this service, ${storeTitle}`,
    version: () => `commit ${readCommit(ROOT, ['package-lock.json', 'prisma', 'src'])}`,
    rule: { kind: 'clock', limit: LIMIT },
    store,
  };
}

/** A package, in a server of this folder; with the package, if another one connects it to the store. */
function node(name: string, store: PeerStore | null, script: string, rule: Rule, connector?: string): Peer {
  const storeTitle = connector === '@prisma/client' ? 'Prisma' : TITLES[store ?? 'memory'];
  return {
    title: `${name}, ${storeTitle}`,
    version: () =>
      installedVersion(name) +
      (connector === undefined ? '' : `; ${connector} ${installedVersion(connector)}`),
    rule,
    store,
    launch: ({ port, url }) => ({
      // The client that Prisma generates is TypeScript, so it needs jiti.
      command: ['env', 'NODE_ENV=production', `PORT=${port}`, `STORE_URL=${url}`, process.execPath].concat(
        connector === '@prisma/client' ? [JITI] : [],
        path.join(import.meta.dirname, 'servers', script),
      ),
    }),
  };
}

function installedVersion(name: string): string {
  const file = path.join(import.meta.dirname, 'servers', 'node_modules', name, 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** Returns the version that a program prints. */
export function versionOf(program: string, ...args: string[]): string {
  const command = [locateProgram(program) ?? program, ...args].join(' ');
  const output = execFileSync('sh', ['-c', `${command} 2>&1`], { encoding: 'utf8' });
  return /\d+(\.\d+)+/.exec(output)?.[0] ?? 'unknown';
}

/**
 * As in the documentation of ngx_http_limit_req_module, with 429 instead of the default 503, and a backlog
 * for all connections of a burst.
 */
const nginxConfiguration = (port: number) => `
daemon off;
pid nginx.pid;
events {}
http {
  access_log off;
  client_body_temp_path .;
  limit_req_zone $http_authorization zone=one:10m rate=${LIMIT}r/m;
  server {
    listen 127.0.0.1:${port} backlog=1024;
    location / {
      limit_req zone=one burst=${BURST} nodelay;
      limit_req_status 429;
      empty_gif;
    }
  }
}
`;

/** As in the documentation of HAProxy: a rate limit by a header, in a table that its peers share. */
const haproxyConfiguration = (port: number, peerPorts: [number, number]) => `
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
peers both
${peerPorts.map((peerPort, index) => `  peer lb${index} 127.0.0.1:${peerPort}`).join('\n')}
frontend public
  bind 127.0.0.1:${port}
  stick-table type string len 64 size 100k expire 2m store http_req_rate(60s) peers both
  http-request track-sc0 req.hdr(authorization)
  http-request deny deny_status 429 if { sc_http_req_rate(0) gt ${LIMIT} }
  http-request return status 200
`;
