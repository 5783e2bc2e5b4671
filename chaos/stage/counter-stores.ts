import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { startRedis, startRedisCluster } from '../../test/support/programs/redis.js';
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
  /** The value of `COUNTER_STORE` for each replica. */
  addresses: string[];
}

/** The service counts in its own database. */
const inDatabase = async (replicas: string[]): Promise<CounterStoreOnStage> => ({
  servers: [],
  links: [],
  addresses: replicas.map(() => ''),
});

/** Starts the counter store of a name, and leads the replicas of these names to it. */
export const COUNTER_STORES: Record<
  StoreName,
  (replicas: string[], guard: Guard) => Promise<CounterStoreOnStage>
> = {
  postgres: inDatabase,
  patroni: inDatabase,

  redis: async (replicas, guard) => {
    const settings = RedisServer.settings(await createDataFolder(guard));
    const running = await startRedis(settings);
    const links = await Promise.all(
      replicas.map(async (name) => ({ name: `${name}:redis`, proxy: await startDatabaseProxy(running.url) })),
    );
    return {
      servers: [new RedisServer('redis', running, settings, guard)],
      links,
      addresses: links.map(({ proxy }) => proxy.url),
    };
  },

  /** Its nodes name their links as their addresses, so one link leads all replicas to one node. */
  cluster: async (replicas, guard) => {
    const folder = await createDataFolder(guard);
    const links: Link[] = [];
    const settings: Record<string, string>[] = [];
    const { masters } = await startRedisCluster(async (port, busPort) => {
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
        (master, index) => new RedisServer(`redis-${index + 1}`, master, settings[index] ?? {}, guard),
      ),
      links,
      addresses: replicas.map(() => address),
    };
  },

  /** Sentinels name each server by its link, which leads everybody to it. */
  sentinel: async (replicas, guard) => {
    const sentinels = await RedisSentinels.create(guard);
    return {
      servers: [sentinels],
      links: [sentinels],
      addresses: replicas.map(() => sentinels.url),
    };
  },
};

async function createDataFolder(guard: Guard): Promise<string> {
  const folder = await createFolder('chaos-redis-');
  guard.removeAtEnd(folder);
  return folder;
}
