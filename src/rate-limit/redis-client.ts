import { readFileSync } from 'node:fs';
import { Cluster, type ClusterOptions, type DNSLookupFunction, Redis, type RedisOptions } from 'ioredis';
import { InvalidEnvironmentError } from '../environment.js';
import type { RedisAddress } from '../redis-address.js';
import { withinDeadline } from './deadline.js';

/** To find out what is there. No longer: the next try may find that the address leads to another server by now. */
const FIND_TIMEOUT_MS = 1000;
/** All that belongs to opening a connection: in a Cluster several questions to several nodes. */
const OPEN_TIMEOUT_MS = 3000;
const CONNECT_TIMEOUT_MS = 1000;
const SAFE_POLICY = 'noeviction';

const scriptFile = (name: string) => ({
  numberOfKeys: 1,
  lua: readFileSync(new URL(`./${name}.lua`, import.meta.url), 'utf8'),
});
/** Sent by their hash; whole where a server does not have them, as after its start. */
const SCRIPTS = {
  consumeRequests: scriptFile('consume'),
  reconcileUsage: scriptFile('reconcile'),
  liftBan: scriptFile('lift-ban'),
};

export type ScriptName = keyof typeof SCRIPTS;

/** The driver's client, of a server or of a Cluster. One that has lost its connection stays so. */
export type RedisClient = Redis | Cluster;

/**
 * A client that is not connected yet, of what is there: a server or a Cluster, by the first address that answers.
 *
 * @throws InvalidEnvironmentError when COUNTER_STORE says otherwise; the driver's error when none answers.
 */
export async function newClient(addresses: readonly RedisAddress[]): Promise<RedisClient> {
  return (await findCluster(addresses)) ? newCluster(addresses) : newServer(addresses[0] as RedisAddress);
}

/**
 * Connects it to the server, or to every master of the Cluster.
 *
 * @throws InvalidEnvironmentError when one of them is not fit to count; the driver's error when one is away.
 */
export async function connect(client: RedisClient): Promise<void> {
  const prepare = async () => {
    await client.connect();
    await Promise.all((client instanceof Cluster ? client.nodes('master') : [client]).map(expectNoEviction));
  };
  await withinDeadline(prepare(), OPEN_TIMEOUT_MS);
}

async function findCluster(addresses: readonly RedisAddress[]): Promise<boolean> {
  let fault: unknown;
  for (const address of addresses) {
    const server = new Redis(serverOptions({ ...address, db: 0 }));
    server.on('error', (error) => (fault = error));
    const request = async () => {
      await server.connect();
      return unlessRefused(server.info('cluster'));
    };
    try {
      const info = await withinDeadline(request(), FIND_TIMEOUT_MS);
      const isCluster = info === null ? addresses.length > 1 : /^cluster_enabled:1/m.test(info);
      expectAddresses(addresses, isCluster);
      return isCluster;
    } catch (error) {
      if (error instanceof InvalidEnvironmentError) {
        throw error;
      }
      // Of a refused connection the driver says here no more than that it is closed; its event said why.
      fault ??= error;
    } finally {
      server.disconnect();
    }
  }
  throw fault;
}

function expectAddresses(addresses: readonly RedisAddress[], isCluster: boolean): void {
  if (!isCluster && addresses.length > 1) {
    throw new InvalidEnvironmentError(
      'COUNTER_STORE has several addresses, which only a Cluster may have, and no Cluster is there',
    );
  }
  if (isCluster && addresses[0]?.db !== 0) {
    throw new InvalidEnvironmentError('COUNTER_STORE names a database, and a Cluster has none but 0');
  }
}

function newServer(address: RedisAddress): Redis {
  return new Redis({
    ...serverOptions(address),
    // What was a master is a replica now: its name may lead to the new one.
    reconnectOnError: ({ message }) => message.includes('READONLY'),
  });
}

function newCluster(addresses: readonly RedisAddress[]): Cluster {
  const redisOptions = connectionOptions(addresses[0] as RedisAddress);
  const options = {
    redisOptions,
    scripts: SCRIPTS,
    lazyConnect: true,
    enableOfflineQueue: false,
    // One that lost all its nodes is opened anew, from the addresses of COUNTER_STORE.
    clusterRetryStrategy: () => null,
    // A call is never sent twice: what became of the first may be unknown. Redirections alone are followed.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    // Certificates are for names.
    ...('tls' in redisOptions && { dnsLookup: nameItself }),
  } satisfies ClusterOptions;
  const cluster = new Cluster(
    addresses.map(({ host, port }) => ({ host, port })),
    options,
  );
  cluster.on('+node', (node: Redis) => {
    // Connected before it is needed: while it connects, what is asked of it fails. Not so early that this would be the
    // Cluster's own question whether it is ready.
    if (cluster.status === 'ready' && node.status === 'wait') {
      withinDeadline(node.connect(), OPEN_TIMEOUT_MS).catch(() => node.disconnect());
    }
  });
  return cluster;
}

/** Of a connection, to a server or to a node of a Cluster. */
function connectionOptions({ tls, username, password }: RedisAddress) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: {} }),
    connectionName: 'animal-store-counters',
    connectTimeout: CONNECT_TIMEOUT_MS,
    // Who is given up for saying nothing would not answer an orderly end either.
    disconnectTimeout: 0,
    // Nothing is ever sent a second time.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  } satisfies RedisOptions;
}

function serverOptions(address: RedisAddress) {
  const { host, port, db } = address;
  return {
    ...connectionOptions(address),
    host,
    port,
    db,
    scripts: SCRIPTS,
    lazyConnect: true,
    retryStrategy: () => null,
    // Whoever requests while there is no connection is told at once.
    enableOfflineQueue: false,
  } satisfies RedisOptions;
}

const nameItself: DNSLookupFunction = (name, done) => done(null, name);

/** @throws InvalidEnvironmentError when the server forgets counts and bans once its memory is full. */
async function expectNoEviction(server: Redis): Promise<void> {
  const told = /^maxmemory_policy:(\S+)/m.exec((await unlessRefused(server.info('memory'))) ?? '')?.[1];
  // Some providers do not tell it there.
  const [, configured] =
    told === undefined ? ((await unlessRefused(server.config('GET', 'maxmemory-policy'))) ?? []) : [];
  const policy = told ?? configured;
  if (policy !== SAFE_POLICY) {
    const { host, port } = server.options;
    throw new InvalidEnvironmentError(
      policy === undefined
        ? `COUNTER_STORE: ${host}:${port} tells its maxmemory-policy neither by INFO nor by CONFIG GET; allow one of them`
        : `COUNTER_STORE: ${host}:${port} has the maxmemory-policy ${policy}, by which counts and bans are forgotten when memory is full; set maxmemory-policy to ${SAFE_POLICY}`,
    );
  }
}

/** Null where the server does not permit the question. */
async function unlessRefused<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Error && error.name === 'ReplyError') {
      return null;
    }
    throw error;
  }
}
