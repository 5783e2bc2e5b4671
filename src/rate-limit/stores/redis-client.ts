import { readFileSync } from 'node:fs';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { InvalidEnvironmentError } from '../../settings/environment.js';
import type { RedisAddress } from '../../settings/redis-address.js';
import { withinDeadline } from '../rules/deadline.js';
import { nullOnReplyError } from './redis-failure.js';

/** Short, as the address may lead to another server at the next attempt. */
const SERVER_TIMEOUT_MS = 1000;
/** A Cluster needs several queries to several nodes. */
const CLUSTER_TIMEOUT_MS = 3000;

const scriptFile = (name: string) => ({
  numberOfKeys: 1,
  lua: readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8'),
});
/** ioredis sends EVALSHA, and EVAL to a server that does not have the script. */
const SCRIPTS = {
  consumeRequests: scriptFile('consume'),
  reconcileUsage: scriptFile('reconcile'),
  liftBan: scriptFile('lift-ban'),
};

export type ScriptName = keyof typeof SCRIPTS;

/** An ioredis client that never reconnects and never sends a call twice: the outcome of the first may be unknown. */
export type RedisClient = Redis | Cluster;

/**
 * Returns a connected client of a server, or of a Cluster if the first address that responds belongs to one.
 *
 * @throws InvalidEnvironmentError when COUNTER_STORE does not fit the server, or a master evicts keys; ioredis' error
 *   when no address responds, or one master of the Cluster does not.
 */
export async function openClient(addresses: readonly RedisAddress[]): Promise<RedisClient> {
  let failure: unknown;
  for (const address of addresses) {
    const server = newServer(address);
    try {
      const isCluster = await connect(server, () => checkServer(server, addresses), SERVER_TIMEOUT_MS);
      if (!isCluster) {
        return server;
      }
      server.disconnect();
      return await openCluster(addresses);
    } catch (error) {
      if (error instanceof InvalidEnvironmentError) {
        throw error;
      }
      failure = error;
    }
  }
  throw failure;
}

/** Returns the connections to all masters that have slots, and so keys. */
export function mastersOf(client: RedisClient): Redis[] {
  return client instanceof Cluster ? client.nodes('master') : [client];
}

async function openCluster(addresses: readonly RedisAddress[]): Promise<Cluster> {
  const cluster = newCluster(addresses);
  await connect(cluster, () => Promise.all(mastersOf(cluster).map(expectNoEviction)), CLUSTER_TIMEOUT_MS);
  return cluster;
}

/** Connects the client and runs the check; disconnects it when either fails. */
async function connect<T>(client: RedisClient, check: () => Promise<T>, timeoutMs: number): Promise<T> {
  let reason: unknown;
  client.on('error', (error) => (reason = error));
  client.on('node error', (error) => (reason = error));
  try {
    return await withinDeadline(client.connect().then(check), timeoutMs);
  } catch (error) {
    client.disconnect();
    // Of a refused connection `connect` reports only that it is closed; the event has the reason.
    throw error instanceof InvalidEnvironmentError ? error : (reason ?? error);
  }
}

/** Returns whether the server is a node of a Cluster; checks a single server. */
async function checkServer(server: Redis, addresses: readonly RedisAddress[]): Promise<boolean> {
  const info = await nullOnReplyError(server.info('cluster'));
  const isCluster = info === null ? addresses.length > 1 : /^cluster_enabled:1/m.test(info);
  if (!isCluster && addresses.length > 1) {
    throw new InvalidEnvironmentError(
      'COUNTER_STORE has several addresses, which only a Cluster may have, and no Cluster is there',
    );
  }
  if (isCluster && addresses[0]?.db !== 0) {
    throw new InvalidEnvironmentError('COUNTER_STORE names a database, and a Cluster has none but 0');
  }
  if (!isCluster) {
    await expectNoEviction(server);
  }
  return isCluster;
}

/** @throws InvalidEnvironmentError when the server evicts counts and bans once its memory is full. */
async function expectNoEviction(server: Redis): Promise<void> {
  const shown = /^maxmemory_policy:(\S+)/m.exec((await nullOnReplyError(server.info('memory'))) ?? '')?.[1];
  // Some providers do not show it there.
  const policy = shown ?? (await nullOnReplyError(server.config('GET', 'maxmemory-policy')))?.[1];
  if (policy !== 'noeviction') {
    const { host, port } = server.options;
    throw new InvalidEnvironmentError(
      policy === undefined
        ? `COUNTER_STORE: ${host}:${port} shows its maxmemory-policy neither by INFO nor by CONFIG GET; allow one of them`
        : `COUNTER_STORE: ${host}:${port} has the maxmemory-policy ${policy}, by which counts and bans are forgotten when memory is full; set maxmemory-policy to noeviction`,
    );
  }
}

function newServer(address: RedisAddress): Redis {
  const { host, port, db } = address;
  return new Redis({
    ...connectionOptions(address),
    host,
    port,
    db,
    scripts: SCRIPTS,
    lazyConnect: true,
    retryStrategy: () => null,
    enableOfflineQueue: false,
    // A master that has become a replica is left: its name may lead to the new master.
    reconnectOnError: ({ message }) => message.includes('READONLY'),
  });
}

function newCluster(addresses: readonly RedisAddress[]): Cluster {
  const redisOptions = connectionOptions(addresses[0] as RedisAddress);
  return new Cluster(
    addresses.map(({ host, port }) => ({ host, port })),
    {
      redisOptions,
      scripts: SCRIPTS,
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: () => null,
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      // Certificates are issued for names.
      ...('tls' in redisOptions && { dnsLookup: (name, done) => done(null, name) }),
    },
  );
}

function connectionOptions({ tls, username, password }: RedisAddress) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: {} }),
    connectionName: 'animal-store-counters',
    connectTimeout: SERVER_TIMEOUT_MS,
    // A server that hangs does not respond to an orderly end either.
    disconnectTimeout: 0,
  } satisfies RedisOptions;
}
