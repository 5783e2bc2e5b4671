import { setTimeout as pause } from 'node:timers/promises';
import { DebianPostgres } from '../../test/support/programs/debian-postgres.js';
import { createFolder } from '../../test/support/programs/programs.js';
import { type RedisServer, startRedis } from '../../test/support/programs/redis.js';
import type { Guard } from '../stage/guard.js';
import { READY_DEADLINE_MS } from '../stage/server.js';

/** How long a store is unavailable when it is restarted. */
const AWAY_MS = 2000;

/** A store of counters. */
export interface Store {
  url(database?: string): string;
  /** Ends it in good order, and starts it again. */
  restart(): Promise<void>;
  freeze(): Promise<void>;
  goOn(): void;
  close(): Promise<void>;
}

/** Starts a Redis with its default settings, which stores its data when it is stopped. */
export async function openRedis(guard: Guard): Promise<Store> {
  const folder = await createFolder('peers-redis-');
  guard.removeAtEnd(folder);
  const settings = { dir: folder, save: '3600 1 300 100 60 10000' };
  let running: RedisServer;
  const start = async (port?: number) => {
    running = await startRedis(settings, {
      deadlineMs: READY_DEADLINE_MS,
      ...(port !== undefined && { port }),
    });
    guard.watch('redis', running.pid);
    return running.url;
  };
  const url = await start();
  return {
    url: () => url,
    async restart() {
      guard.forget('redis');
      await running.operator.shutdown().catch(() => {}); // It ends without a reply.
      await running.stop();
      await pause(AWAY_MS);
      await start(running.port);
    },
    freeze: async () => running.pause(),
    goOn: () => running.goOn(),
    close: () => running.stop(),
  };
}

export async function openPostgres(guard: Guard): Promise<Store> {
  const server = await DebianPostgres.create('max_connections = 300');
  guard.removeAtEnd(server.folder);
  const start = async () => {
    await server.start();
    guard.watch('postgres', await server.postmaster());
  };
  await start();
  return {
    url: (database) => server.url(database),
    async restart() {
      guard.forget('postgres');
      await server.stop();
      await pause(AWAY_MS);
      await start();
    },
    freeze: () => server.freeze(),
    goOn: () => server.goOn(),
    close: () => server.remove(),
  };
}
