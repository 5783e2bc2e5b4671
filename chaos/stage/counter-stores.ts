import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type RedisProgram, startRedis, startRedisCluster } from '../../test/support/programs/redis.js';
import { type DatabaseProxy, startDatabaseProxy } from '../../test/support/programs/database-proxy.js';
import { createFolder } from '../../test/support/programs/programs.js';
import type { StoreName } from '../options.js';
import type { Guard } from './guard.js';
import { RedisSentinels } from './redis-sentinels.js';
import { RedisServer } from './redis-server.js';
import type { Server } from './server.js';

/** A connection that faults can cut, by name. */
export interface Link {
  name: string;
  /** After a failover, the proxy of another server. */
  readonly proxy: DatabaseProxy;
}

/** What counts requests beside the service's database. */
interface CounterStoreOnStage {
  servers: Server[];
  links: Link[];
  /** The value of `COUNTER_STORE_URL` for each replica. */
  addresses: string[];
}

/** Starts a counter store, and leads the replicas of these names to it. */
type StartStore = (replicas: string[], guard: Guard) => Promise<CounterStoreOnStage>;

/** The service counts in its own database. */
const inDatabase: StartStore = async (replicas) => ({
  servers: [],
  links: [],
  addresses: replicas.map(() => ''),
});

const inServer =
  (program: RedisProgram): StartStore =>
  async (replicas, guard) => {
    const settings = RedisServer.settings(await createDataFolder(guard));
    const running = await startRedis(settings, { program });
    const links = await Promise.all(
      replicas.map(async (name) => ({ name: `${name}:redis`, proxy: await startDatabaseProxy(running.url) })),
    );
    return {
      servers: [new RedisServer('redis', program, running, settings, guard)],
      links,
      addresses: links.map(({ proxy }) => proxy.url),
    };
  };

/** The nodes of a Cluster name their links as their addresses, so one link leads all replicas to one node. */
const inCluster =
  (program: RedisProgram): StartStore =>
  async (replicas, guard) => {
    const folder = await createDataFolder(guard);
    const links: Link[] = [];
    const settings: Record<string, string>[] = [];
    const { masters } = await startRedisCluster(program, async (port, busPort) => {
      const name = `redis-${links.length + 1}`;
      const dir = path.join(folder, name);
      await mkdir(dir);
      const proxy = await startDatabaseProxy(`redis://127.0.0.1:${port}`);
      links.push({ name, proxy });
      settings.push({
        ...RedisServer.settings(dir),
        'cluster-enabled': 'yes',
        'cluster-port': String(busPort),
        'cluster-announce-ip': '127.0.0.1',
        'cluster-announce-port': new URL(proxy.url).port,
        'cluster-announce-bus-port': String(busPort),
      });
      return settings.at(-1) ?? {};
    });
    const address = links.map(({ proxy }) => proxy.url).join(',');
    return {
      servers: masters.map(
        (master, index) =>
          new RedisServer(`redis-${index + 1}`, program, master, settings[index] ?? {}, guard),
      ),
      links,
      addresses: replicas.map(() => address),
    };
  };

/** Sentinels name each server by its link, so that all connections go through the link. */
const withSentinels: StartStore = async (replicas, guard) => {
  const sentinels = await RedisSentinels.create(guard);
  return {
    servers: [sentinels],
    links: [sentinels],
    addresses: replicas.map(() => sentinels.url),
  };
};

/** Every counter store by its name. */
export const COUNTER_STORES: Record<StoreName, StartStore> = {
  postgres: inDatabase,
  patroni: inDatabase,
  redis: inServer('redis-server'),
  cluster: inCluster('redis-server'),
  sentinel: withSentinels,
  valkey: inServer('valkey-server'),
  'valkey-cluster': inCluster('valkey-server'),
};

async function createDataFolder(guard: Guard): Promise<string> {
  const folder = await createFolder('chaos-redis-');
  guard.removeAtEnd(folder);
  return folder;
}
