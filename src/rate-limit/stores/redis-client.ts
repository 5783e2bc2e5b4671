import { readFileSync } from 'node:fs';
import calculateSlot from 'cluster-key-slot';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { InvalidEnvironmentError } from '../../process/settings/environment.js';
import type { RedisAddress } from '../../process/settings/redis-address.js';

const CONNECT_TIMEOUT_MS = 1000;
const RETRY_INTERVAL_MS = 200;

const scriptFile = (name: string) => ({
  numberOfKeys: 1,
  lua: readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8'),
});
/** ioredis sends EVALSHA, and EVAL to a server that does not have the script. */
const SCRIPTS = {
  consumeRequests: scriptFile('consume'),
  liftBan: scriptFile('lift-ban'),
  indexBans: scriptFile('index-bans'),
};

export type Call = [key: string, ...values: (string | number)[]];
type Scripts = Record<keyof typeof SCRIPTS, (...call: Call) => Promise<unknown>>;

/** A client of ioredis, which reconnects by itself and never sends a call twice. */
export type RedisClient = (Redis | Cluster) & Scripts;

/** Returns a client, not connected, of a server, of the master that Sentinels name, or of a Cluster. */
export function createClient(addresses: readonly RedisAddress[]): RedisClient {
  const isCluster = addresses.length > 1 && addresses[0]?.masterName === undefined;
  return isCluster ? createCluster(addresses) : createServer(addresses);
}

/** Returns, for each master, a key on it that begins with `prefix`. */
export function findKeyOfEachMaster(client: RedisClient, prefix: string): string[] {
  if (client instanceof Redis) {
    return [prefix];
  }
  const masters = new Set(client.slots.flatMap(([master]) => master ?? []));
  const keys: string[] = [];
  for (let suffix = 0; masters.size > 0; suffix += 1) {
    const key = `${prefix}:${suffix}`;
    if (masters.delete(client.slots[calculateSlot(key)]?.[0] ?? '')) {
      keys.push(key);
    }
  }
  return keys;
}

/**
 * Connects a client if it is not connected, and checks its servers.
 *
 * @returns the client, or one of the Cluster that its server belongs to; and what `checkPolicies()` returns.
 * @throws InvalidEnvironmentError if the addresses do not fit the server, or a master evicts keys; else the
 *   error of ioredis.
 */
export async function connect(
  client: RedisClient,
  addresses: readonly RedisAddress[],
): Promise<{ client: RedisClient; unchecked: string[] }> {
  let reason: unknown;
  client.on('error', (error) => (reason = error));
  try {
    if (client.status === 'wait') {
      await connectOnce(client, addresses);
    }
  } catch (error) {
    if (/cluster support disabled/.test(String((reason as { lastNodeError?: unknown })?.lastNodeError))) {
      throw new InvalidEnvironmentError(
        'COUNTER_STORE_URL has several addresses, but the one that responded is not a Cluster node',
      );
    }
    // `connect` reports only that a refused connection is closed; the event has the reason.
    throw error instanceof InvalidEnvironmentError ? error : (reason ?? error);
  }
  if (client instanceof Redis && (await isOfCluster(client))) {
    if (addresses[0]?.db !== 0) {
      throw new InvalidEnvironmentError(
        'COUNTER_STORE_URL names a database, but a Cluster has only database 0',
      );
    }
    client.disconnect();
    return connect(createCluster(addresses), addresses);
  }
  try {
    return { client, unchecked: await checkPolicies(client) };
  } catch (error) {
    client.disconnect();
    throw error;
  }
}

/** @throws InvalidEnvironmentError if no Sentinel knows the master of the address. */
function connectOnce(client: RedisClient, [address]: readonly RedisAddress[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const rejectUnknown = ({ message }: Error) => {
      // The error of the last Sentinel, once no Sentinel has named a master.
      if (message.endsWith('No such master with that name')) {
        client.disconnect();
        reject(
          new InvalidEnvironmentError(
            `COUNTER_STORE_URL: no Sentinel knows a master "${address?.masterName}"`,
          ),
        );
      }
    };
    client.on('error', rejectUnknown);
    // A Sentinel that loses the master later is no fault of the settings.
    const connected = client.connect().finally(() => client.off('error', rejectUnknown));
    connected.then(resolve, reject);
  });
}

/** Returns whether a server is a node of a Cluster. A user may lack INFO, which providers call dangerous. */
async function isOfCluster(server: Redis): Promise<boolean> {
  const info = await unlessRejected(server.info('cluster'));
  if (info !== null) {
    return /^cluster_enabled:1/m.test(info);
  }
  // Otherwise each connection would run INFO, and complain.
  server.options.enableReadyCheck = false;
  return (await unlessRejected(server.cluster('INFO'))) !== null;
}

/**
 * Returns `host:port` of each master that does not say whether it evicts keys.
 *
 * @throws InvalidEnvironmentError if one evicts counts and bans once its memory is full.
 */
async function checkPolicies(client: RedisClient): Promise<string[]> {
  const masters: Redis[] = client instanceof Cluster ? client.nodes('master') : [client];
  const unchecked = masters.map(async (server) => {
    const info = await unlessRejected(server.info('memory'));
    const policy = /^maxmemory_policy:(\S+)/m.exec(info ?? '')?.[1];
    const name = `${server.options.host}:${server.options.port}`;
    if (policy !== undefined && policy !== 'noeviction') {
      throw new InvalidEnvironmentError(
        `COUNTER_STORE_URL: ${name} has the maxmemory-policy ${policy}, by which counts and bans ` +
          'are forgotten when memory is full; set maxmemory-policy to noeviction',
      );
    }
    return policy === undefined ? [name] : [];
  });
  return (await Promise.all(unchecked)).flat();
}

function unlessRejected<T>(reply: Promise<T>): Promise<T | null> {
  return reply.catch((error: Error) => {
    if (error.name === 'ReplyError') {
      return null;
    }
    throw error;
  });
}

function createServer(addresses: readonly RedisAddress[]): RedisClient {
  const [address] = addresses as [RedisAddress];
  const { host, port, db, masterName } = address;
  return new Redis({
    ...connectionOptions(address),
    ...(masterName === undefined ? { host, port, db } : sentinelOptions(masterName, addresses)),
    scripts: SCRIPTS,
    lazyConnect: true,
    retryStrategy: () => RETRY_INTERVAL_MS,
    // When the connection is lost, calls in flight are rejected; later ones wait for one more connection.
    maxRetriesPerRequest: 0,
    // Connects anew if the master has become a replica, because its name may lead to the new master, or if it
    // lacks replicas, because Sentinels may have replaced it.
    reconnectOnError: ({ message }) =>
      /READONLY|MASTERDOWN/.test(message) || (masterName !== undefined && message.includes('NOREPLICAS')),
  }) as unknown as RedisClient;
}

function createCluster(addresses: readonly RedisAddress[]): RedisClient {
  const redisOptions = connectionOptions(addresses[0] as RedisAddress);
  return new Cluster(
    addresses.map(({ host, port }) => ({ host, port })),
    {
      redisOptions,
      scripts: SCRIPTS,
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: () => RETRY_INTERVAL_MS,
      // Otherwise a call whose connection is lost would be sent again.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      // Certificates are issued for names.
      ...('tls' in redisOptions && { dnsLookup: (name, done) => done(null, name) }),
    },
  ) as unknown as RedisClient;
}

/** Without `failoverDetector`: a message of it that arrives while ioredis connects would end the client. */
function sentinelOptions(name: string, addresses: readonly RedisAddress[]) {
  const [{ tls, password }] = addresses as [RedisAddress];
  return {
    name,
    sentinels: addresses.map(({ host, port }) => ({ host, port })),
    // A Sentinel without a password accepts any.
    ...(password !== undefined && { sentinelPassword: password }),
    ...(tls && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
    sentinelRetryStrategy: () => RETRY_INTERVAL_MS,
    // For a Sentinel that hangs.
    sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
  } satisfies RedisOptions;
}

function connectionOptions({ tls, username, password }: RedisAddress) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: {} }),
    connectionName: 'animal-store-counters',
    connectTimeout: CONNECT_TIMEOUT_MS,
    // A server that hangs does not respond to an orderly end either.
    disconnectTimeout: 0,
  } satisfies RedisOptions;
}
