import { readFileSync } from 'node:fs';
import { Cluster, Command, Redis, type RedisOptions } from 'ioredis';
import { InvalidEnvironmentError } from '../environment.js';
import type { RedisAddress } from '../redis-address.js';
import { withinDeadline } from './deadline.js';
import { NotConnectedError, nullOnReplyError, type OutageLog } from './redis-failure.js';

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
 * Returns a connected client of a server or a Cluster, as detected at the first address that responds.
 *
 * @throws InvalidEnvironmentError when COUNTER_STORE does not fit the server, or a master evicts keys; ioredis' error
 *   when no address responds, or one master of the Cluster does not.
 */
export async function openClient(
  addresses: readonly RedisAddress[],
  outages: OutageLog,
): Promise<RedisClient> {
  const { server, isCluster } = await openFirst(addresses);
  if (!isCluster) {
    return server;
  }
  server.disconnect();
  const cluster = newCluster(addresses, outages);
  await open(cluster, () => Promise.all(cluster.nodes('master').map(expectNoEviction)), CLUSTER_TIMEOUT_MS);
  return cluster;
}

/** Returns a function that finds the connection to the master of a key: undefined while that is not connected. */
export function masterFinder(client: RedisClient): (key: string) => Redis | undefined {
  if (!(client instanceof Cluster)) {
    return () => client;
  }
  const connections = connectionsOf(client);
  return (key) => {
    const [address = ''] = client.slots[new Command('exists', [key]).getSlot()] ?? [];
    const master = connections.get(address);
    return master?.status === 'ready' ? master : undefined;
  };
}

/**
 * Returns the connections to all masters that have slots, and so keys.
 *
 * @throws NotConnectedError when the connection to one of them was lost.
 */
export function mastersOf(client: RedisClient): Redis[] {
  if (!(client instanceof Cluster)) {
    return [client];
  }
  const connections = connectionsOf(client);
  return [...new Set(client.slots.flatMap(([master]) => master ?? []))].map((address) => {
    const master = connections.get(address);
    if (master === undefined) {
      throw new NotConnectedError();
    }
    return master;
  });
}

function connectionsOf(cluster: Cluster): Map<string, Redis> {
  return new Map(cluster.nodes('master').map((node) => [addressOf(node), node]));
}

const addressOf = ({ options }: Redis) => `${options.host}:${options.port}`;

async function openFirst(addresses: readonly RedisAddress[]): Promise<{ server: Redis; isCluster: boolean }> {
  let failure: unknown;
  for (const address of addresses) {
    const server = newServer(address);
    try {
      const isCluster = await open(server, () => checkServer(server, addresses), SERVER_TIMEOUT_MS);
      return { server, isCluster };
    } catch (error) {
      if (error instanceof InvalidEnvironmentError) {
        throw error;
      }
      failure = error;
    }
  }
  throw failure;
}

/** Connects the client and runs the check; disconnects it when either fails. */
async function open<T>(client: RedisClient, check: () => Promise<T>, timeoutMs: number): Promise<T> {
  let reason: unknown;
  client.on('error', (error) => (reason = error));
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

function newCluster(addresses: readonly RedisAddress[], outages: OutageLog): Cluster {
  const redisOptions = connectionOptions(addresses[0] as RedisAddress);
  const cluster = new Cluster(
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
  const nameOf = (address: string) => `The node ${address} of the Redis Cluster`;
  cluster.on('node error', (error: unknown, address: string) => outages.away(nameOf(address), error));
  cluster.on('+node', (node: Redis) => {
    node.once('ready', () => outages.back(nameOf(addressOf(node))));
    // A master is used once it is connected. Before the Cluster is ready, this would fail its own ready check.
    if (cluster.status === 'ready' && node.status === 'wait') {
      withinDeadline(node.connect(), CLUSTER_TIMEOUT_MS).catch(() => node.disconnect());
    }
  });
  return cluster;
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

/** @throws InvalidEnvironmentError when the server evicts counts and bans once its memory is full. */
async function expectNoEviction(server: Redis): Promise<void> {
  const shown = /^maxmemory_policy:(\S+)/m.exec((await nullOnReplyError(server.info('memory'))) ?? '')?.[1];
  // Some providers do not show it there.
  const policy = shown ?? (await nullOnReplyError(server.config('GET', 'maxmemory-policy')))?.[1];
  if (policy !== 'noeviction') {
    throw new InvalidEnvironmentError(
      policy === undefined
        ? `COUNTER_STORE: ${addressOf(server)} shows its maxmemory-policy neither by INFO nor by CONFIG GET; allow one of them`
        : `COUNTER_STORE: ${addressOf(server)} has the maxmemory-policy ${policy}, by which counts and bans are forgotten when memory is full; set maxmemory-policy to noeviction`,
    );
  }
}
